// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace uvtap::test {

struct TinySymbol {
  std::string name;
  uint64_t address = 0;
  unsigned char type = STT_FUNC;
  bool defined = true;
};

enum class TinyHash { gnu, sysv, none };

/// What a small ELF image is made from.
struct TinyElf {
  std::vector<TinySymbol> exported{};
  std::vector<TinySymbol> local{};
  std::vector<uint8_t> code{};  ///< stands at tiny_code_address
  TinyHash hash = TinyHash::gnu;
  bool section_headers = true;
};

/// The image, and where its parts stand in it.
struct TinyImage {
  std::vector<std::byte> bytes;
  size_t code = 0;
  size_t dynamic = 0;
  size_t hash = 0;
  size_t dynsym = 0;
  size_t dynstr = 0;
  size_t symtab = 0;
  size_t strtab = 0;
  size_t sections = 0;

  template <typename T>
  void poke(size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof(T));
  }
};

/// One segment maps the file from its start to its last table; .bss follows.
inline constexpr uint64_t tiny_base_address = 0x400000;
inline constexpr uint64_t tiny_bss_size = 0x1000;
inline constexpr uint64_t tiny_code_offset = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
inline constexpr uint64_t tiny_code_address = tiny_base_address + tiny_code_offset;

/// Program headers: the segment, then PT_DYNAMIC. Section headers, in this order:
enum TinySection : size_t { tiny_null, tiny_dynsym, tiny_dynstr, tiny_symtab, tiny_strtab };
inline constexpr size_t tiny_section_count = 5;

[[nodiscard]] TinyImage build(const TinyElf& elf);

}  // namespace uvtap::test
