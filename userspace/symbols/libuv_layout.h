// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "userspace/symbols/elf_file.h"
#include "userspace/util/result.h"

namespace uvtap {

struct LibuvVersion {
  uint8_t major = 0;
  uint8_t minor = 0;
  uint8_t patch = 0;
  auto operator<=>(const LibuvVersion&) const = default;
};

[[nodiscard]] std::string to_string(LibuvVersion version);  ///< "1.51.0"

/// Where the fields stand that uvtap reads, in bytes. The table in the .cpp names the versions and
/// how it was made.
struct LibuvLayout {
  uint32_t handle_queue = 16;     ///< uv_loop_t
  uint32_t internal_fields = 40;  ///< uv_loop_t
  uint32_t backend_fd = 64;       ///< uv_loop_t
  uint32_t time = 544;            ///< uv_loop_t: in milliseconds
  uint32_t entry_time = 0;        ///< uv__loop_internal_fields_t: provider_entry_time
  uint32_t idle_time = 0;         ///< uv__loop_internal_fields_t: provider_idle_time
  uint32_t loop_count = 0;        ///< uv__loop_internal_fields_t; 0 where the version has none
};

/// The layout of a version, or an error that names the version: what is not known is not guessed.
[[nodiscard]] Result<LibuvLayout> libuv_layout(LibuvVersion version);

/// The version that exported uv_version (at this linked address) returns, read from its code:
/// [prologue] mov $imm32,%eax; ret. Errors are predicates, as ElfFile's.
[[nodiscard]] Result<LibuvVersion> read_libuv_version(const ElfFile& file, uint64_t uv_version);

/// The linked address of libuv's static `default_loop_ptr`: the first RIP-relative 64-bit load in
/// exported uv_default_loop.
[[nodiscard]] Result<uint64_t> read_default_loop_pointer(const ElfFile& file,
                                                         uint64_t uv_default_loop);

}  // namespace uvtap
