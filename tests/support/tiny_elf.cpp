// SPDX-License-Identifier: Apache-2.0
#include "tests/support/tiny_elf.h"

#include <algorithm>
#include <array>
#include <span>

namespace uvtap::test {
namespace {

template <typename T>
size_t append(TinyImage& image, std::span<const T> objects) {
  const size_t offset = (image.bytes.size() + 7) / 8 * 8;
  image.bytes.resize(offset);
  const auto bytes = std::as_bytes(objects);
  image.bytes.insert(image.bytes.end(), bytes.begin(), bytes.end());
  return offset;
}

/// As linkers do it: a name that ends one already there is not stored again.
uint32_t intern(std::string& strings, const std::string& name) {
  const std::string terminated = name + '\0';
  size_t offset = strings.find(terminated);
  if (offset == std::string::npos) {
    offset = strings.size();
    strings += terminated;
  }
  return static_cast<uint32_t>(offset);
}

std::vector<Elf64_Sym> make_symbols(std::span<const TinySymbol> symbols, std::string& strings) {
  std::vector<Elf64_Sym> made(1);  // symbol 0 is the undefined one
  strings.assign(1, '\0');
  for (const TinySymbol& symbol : symbols) {
    Elf64_Sym entry{};
    entry.st_name = intern(strings, symbol.name);
    entry.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, symbol.type));
    entry.st_shndx = symbol.defined ? 1 : SHN_UNDEF;
    entry.st_value = symbol.address;
    made.push_back(entry);
  }
  return made;
}

/// A hash table with one bucket whose chain holds every symbol but the first.
std::vector<uint32_t> make_hash(TinyHash kind, size_t symbol_count) {
  const auto count = static_cast<uint32_t>(symbol_count);
  if (kind == TinyHash::sysv) return {1, count};
  // bucket count, first symbol, bloom words, bloom shift; one bloom word; the bucket; the chain
  std::vector<uint32_t> words{1, 1, 1, 0, 0xffffffff, 0xffffffff, count > 1 ? 1U : 0U};
  words.resize(words.size() + count - 1, 2);
  if (count > 1) words.back() = 3;
  return words;
}

void add_symbols(TinyImage& image, const TinyElf& elf, std::vector<Elf64_Shdr>& sections) {
  const auto add = [&](const std::vector<TinySymbol>& symbols, uint32_t type, size_t index,
                       size_t& symbols_at, size_t& strings_at) {
    std::string strings;
    const auto table = make_symbols(symbols, strings);
    symbols_at = append(image, std::span(table));
    strings_at = append(image, std::span<const char>(strings));
    sections[index].sh_type = type;
    sections[index].sh_offset = symbols_at;
    sections[index].sh_size = table.size() * sizeof(Elf64_Sym);
    sections[index].sh_link = static_cast<uint32_t>(index + 1);
    sections[index].sh_entsize = sizeof(Elf64_Sym);
    sections[index + 1].sh_type = SHT_STRTAB;
    sections[index + 1].sh_offset = strings_at;
    sections[index + 1].sh_size = strings.size();
  };
  add(elf.exported, SHT_DYNSYM, tiny_dynsym, image.dynsym, image.dynstr);
  add(elf.local, SHT_SYMTAB, tiny_symtab, image.symtab, image.strtab);
}

void fill_dynamic(TinyImage& image, TinyHash hash, uint64_t strings_size) {
  const auto entry = [](int64_t tag, uint64_t value) {
    return Elf64_Dyn{.d_tag = tag, .d_un = {.d_val = value}};
  };
  std::array<Elf64_Dyn, 5> entries{entry(DT_SYMTAB, tiny_base_address + image.dynsym),
                                   entry(DT_STRTAB, tiny_base_address + image.dynstr),
                                   entry(DT_STRSZ, strings_size)};
  if (hash != TinyHash::none) {
    entries[3] =
        entry(hash == TinyHash::gnu ? DT_GNU_HASH : DT_HASH, tiny_base_address + image.hash);
  }
  image.poke(image.dynamic, entries);
}

void fill_program_headers(TinyImage& image, uint64_t mapped_size) {
  Elf64_Phdr load{};
  load.p_type = PT_LOAD;
  load.p_flags = PF_R | PF_X;
  load.p_vaddr = tiny_base_address;
  load.p_filesz = mapped_size;
  load.p_memsz = mapped_size + tiny_bss_size;
  Elf64_Phdr dynamic{};
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = image.dynamic;
  dynamic.p_vaddr = tiny_base_address + image.dynamic;
  dynamic.p_filesz = 5 * sizeof(Elf64_Dyn);
  image.poke(sizeof(Elf64_Ehdr), std::array{load, dynamic});
}

void fill_header(TinyImage& image) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  header.e_shoff = image.sections;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = image.sections != 0 ? tiny_section_count : 0;
  image.poke(0, header);
}

}  // namespace

TinyImage build(const TinyElf& elf) {
  TinyImage image;
  image.bytes.resize(tiny_code_offset);
  image.code = append(image, std::span(elf.code));
  image.dynamic = append(image, std::span<const Elf64_Dyn>(std::array<Elf64_Dyn, 5>{}));
  image.hash =
      append(image, std::span<const uint32_t>(make_hash(elf.hash, elf.exported.size() + 1)));
  std::vector<Elf64_Shdr> sections(tiny_section_count);
  add_symbols(image, elf, sections);
  fill_dynamic(image, elf.hash, sections[tiny_dynstr].sh_size);
  fill_program_headers(image, image.bytes.size());
  if (elf.section_headers) image.sections = append(image, std::span<const Elf64_Shdr>(sections));
  fill_header(image);
  return image;
}

}  // namespace uvtap::test
