// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "userspace/symbols/elf_file.h"
#include "userspace/symbols/libuv_layout.h"
#include "userspace/util/result.h"

namespace uvtap {

/// What one ELF file (an executable or a library) offers an observer of loops. Offsets are file
/// offsets to attach to; addresses are as linked, to be moved by the load bias.
struct Image {
  bool exports_node_start = false;  ///< node::Start: the mark of Node.js
  bool exports_uv_run = false;      ///< libuv, or something that imitates it (Bun)
  std::optional<uint64_t> uv_run_offset;
  std::optional<uint64_t> io_poll_offset;     ///< uv__io_poll, from .symtab
  std::optional<uint64_t> epoll_wait_offset;  ///< exported by libc (or musl)
  std::optional<uint64_t> epoll_pwait_offset;
  std::optional<LibuvVersion> libuv_version;
  std::optional<uint64_t> default_loop_pointer;  ///< address of libuv's default_loop_ptr
  std::optional<uint64_t> node_metadata;  ///< address of node::per_process::metadata; its first
                                          ///< member is the std::string "22.23.5"
  uint64_t first_load_address = 0;        ///< p_vaddr of the first PT_LOAD, page aligned
  uint64_t first_load_file_offset = 0;    ///< p_offset of it, page aligned
};

/// Reads an image; fails only where the file cannot be read as ELF at all.
[[nodiscard]] Result<Image> read_image(const std::string& path);

}  // namespace uvtap
