// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/symbols/elf_segment.h"
#include "userspace/symbols/regular_file.h"
#include "userspace/symbols/symbol_table.h"
#include "userspace/util/result.h"

namespace uvtap {

/// A 64-bit x86 ELF file that may lie about anything: it comes out of a container. Every table is
/// read in bounded pieces: memory use is bounded however large the file is. Errors are predicates
/// ("is not an ELF file") for the caller to put the file's name before.
class ElfFile {
 public:
  /// Opens a regular file (anything else is refused without blocking on it) and reads its headers.
  static Result<ElfFile> open(const std::string& path);

  /// The defined symbols of the dynamic table (.dynsym) that have one of the wanted names.
  [[nodiscard]] Result<SymbolAddresses> exported(std::span<const std::string_view> wanted) const;
  /// The same from .symtab; empty where the file is stripped.
  [[nodiscard]] Result<SymbolAddresses> local(std::span<const std::string_view> wanted) const;

  /// Where the byte at this linked address stands in the file: what a uprobe is attached to.
  [[nodiscard]] Result<uint64_t> file_offset_of(uint64_t address) const;
  /// Reads code or data as the file has it, up to the end of the segment; returns how many bytes
  /// there were. Fails where the file holds none.
  [[nodiscard]] Result<size_t> read_some(uint64_t address, std::span<std::byte> into) const;
  /// The same, but fails where the file holds fewer bytes.
  [[nodiscard]] Result<void> read_at(uint64_t address, std::span<std::byte> into) const;

  [[nodiscard]] const std::vector<ElfSegment>& segments() const { return segments_; }

 private:
  RegularFile file_;
  std::vector<ElfSegment> segments_;
  SymbolTable dynamic_;  ///< .dynsym
  SymbolTable static_;   ///< .symtab
};

}  // namespace uvtap
