// SPDX-License-Identifier: Apache-2.0
#include "userspace/symbols/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "userspace/symbols/dynamic_section.h"

namespace uvtap {
namespace {

/// Node has about a dozen program headers and forty sections.
constexpr size_t max_program_headers = 64;
constexpr size_t max_section_headers = 4096;

Result<Elf64_Ehdr> read_elf_header(const RegularFile& file) {
  if (!file.contains({0, sizeof(Elf64_Ehdr)})) return fail("is too short for an ELF file");
  auto header = file.read_object<Elf64_Ehdr>(0);
  if (!header) return header;
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return fail("is not an ELF file");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_machine != EM_X86_64) {
    return fail("is not a 64-bit ELF file for x86-64");
  }
  if (header->e_type != ET_EXEC && header->e_type != ET_DYN) {
    return fail("is neither an executable nor a shared library");
  }
  return header;
}

Result<std::vector<Elf64_Phdr>> read_program_headers(const RegularFile& file,
                                                     const Elf64_Ehdr& header) {
  if (header.e_phnum > max_program_headers) return fail("has too many program headers");
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return fail("has program headers of unknown size");
  return file.read_array<Elf64_Phdr>(header.e_phoff, header.e_phnum);
}

/// None where the file has none. Extended numbering (e_shnum 0 although there are sections) begins
/// far above the limit, so such a table is left alone.
Result<std::vector<Elf64_Shdr>> read_section_headers(const RegularFile& file,
                                                     const Elf64_Ehdr& header) {
  if (header.e_shnum == 0) return std::vector<Elf64_Shdr>{};
  if (header.e_shnum > max_section_headers) return fail("has too many section headers");
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return fail("has section headers of unknown size");
  return file.read_array<Elf64_Shdr>(header.e_shoff, header.e_shnum);
}

Result<ElfSegment> to_segment(const RegularFile& file, const Elf64_Phdr& header) {
  if (!file.contains({header.p_offset, header.p_filesz})) return fail("has a segment past its end");
  if (header.p_filesz > header.p_memsz ||
      header.p_memsz > std::numeric_limits<uint64_t>::max() - header.p_vaddr) {
    return fail("has a segment of impossible size");
  }
  return ElfSegment{.address = header.p_vaddr,
                    .file_offset = header.p_offset,
                    .file_size = header.p_filesz,
                    .memory_size = header.p_memsz,
                    .executable = (header.p_flags & PF_X) != 0};
}

Result<std::vector<ElfSegment>> load_segments(const RegularFile& file,
                                              std::span<const Elf64_Phdr> headers) {
  std::vector<ElfSegment> segments;
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type != PT_LOAD) continue;
    auto segment = to_segment(file, header);
    if (!segment) return std::unexpected(segment.error());
    segments.push_back(*segment);
  }
  if (segments.empty()) return fail("has no loadable segment");
  return segments;
}

bool has_section(std::span<const Elf64_Shdr> sections, uint32_t type) {
  return std::ranges::find(sections, type, &Elf64_Shdr::sh_type) != sections.end();
}

/// The table of the first section of this type; empty where there is none.
Result<SymbolTable> table_by_section(std::span<const Elf64_Shdr> sections, uint32_t type) {
  const auto symbols = std::ranges::find(sections, type, &Elf64_Shdr::sh_type);
  if (symbols == sections.end()) return SymbolTable{};
  if (symbols->sh_entsize != sizeof(Elf64_Sym)) return fail("has symbols of unknown size");
  if (symbols->sh_link >= sections.size() || sections[symbols->sh_link].sh_type != SHT_STRTAB) {
    return fail("has a symbol table without names");
  }
  const Elf64_Shdr& strings = sections[symbols->sh_link];
  return SymbolTable{.symbols = {symbols->sh_offset, symbols->sh_size},
                     .strings = {strings.sh_offset, strings.sh_size}};
}

Result<SymbolTable> table_by_segment(const RegularFile& file, std::span<const ElfSegment> segments,
                                     std::span<const Elf64_Phdr> headers) {
  const auto dynamic = std::ranges::find(headers, PT_DYNAMIC, &Elf64_Phdr::p_type);
  if (dynamic == headers.end()) return SymbolTable{};
  return read_dynamic_section(file, segments, {dynamic->p_offset, dynamic->p_filesz});
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
  auto file = RegularFile::open(path);
  if (!file) return std::unexpected(file.error());
  const auto header = read_elf_header(*file);
  if (!header) return std::unexpected(header.error());
  const auto programs = read_program_headers(*file, *header);
  if (!programs) return std::unexpected(programs.error());
  const auto sections = read_section_headers(*file, *header);
  if (!sections) return std::unexpected(sections.error());
  auto segments = load_segments(*file, *programs);
  if (!segments) return std::unexpected(segments.error());

  const auto dynamic = has_section(*sections, SHT_DYNSYM)
                           ? table_by_section(*sections, SHT_DYNSYM)
                           : table_by_segment(*file, *segments, *programs);
  if (!dynamic) return std::unexpected(dynamic.error());
  const auto symtab = table_by_section(*sections, SHT_SYMTAB);
  if (!symtab) return std::unexpected(symtab.error());

  ElfFile elf;
  elf.file_ = std::move(*file);
  elf.segments_ = std::move(*segments);
  elf.dynamic_ = *dynamic;
  elf.static_ = *symtab;
  return elf;
}

Result<SymbolAddresses> ElfFile::exported(std::span<const std::string_view> wanted) const {
  return find_symbols(file_, dynamic_, wanted);
}

Result<SymbolAddresses> ElfFile::local(std::span<const std::string_view> wanted) const {
  return find_symbols(file_, static_, wanted);
}

Result<uint64_t> ElfFile::file_offset_of(uint64_t address) const {
  const auto range = file_range_from(segments_, address);
  if (!range) return std::unexpected(range.error());
  return range->offset;
}

Result<size_t> ElfFile::read_some(uint64_t address, std::span<std::byte> into) const {
  const auto range = file_range_from(segments_, address);
  if (!range) return std::unexpected(range.error());
  const auto length = std::min<size_t>(into.size(), range->size);
  if (auto read = file_.read(range->offset, into.first(length)); !read) {
    return std::unexpected(read.error());
  }
  return length;
}

Result<void> ElfFile::read_at(uint64_t address, std::span<std::byte> into) const {
  const auto length = read_some(address, into);
  if (!length) return std::unexpected(length.error());
  if (*length < into.size()) return fail("holds only {} bytes at {:#x}", *length, address);
  return {};
}

}  // namespace uvtap
