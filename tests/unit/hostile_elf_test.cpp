// SPDX-License-Identifier: Apache-2.0
//
// Files that no linker wrote: whatever stands in them, the answer is one clear error.
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>

#include "tests/support/memory_file.h"
#include "tests/support/tiny_elf.h"
#include "userspace/symbols/elf_file.h"
#include "userspace/symbols/image.h"

using namespace uvtap;
using namespace uvtap::test;
using Catch::Matchers::Contains;

namespace {

constexpr uint64_t maximum = std::numeric_limits<uint64_t>::max();
constexpr std::array<std::string_view, 1> uv_run{"uv_run"};

const TinyElf valid{.exported = {{"_ZN4node5StartEiPPc", tiny_code_address},
                                 {"uv_run", tiny_code_address},
                                 {"uv_version", tiny_code_address}},
                    .local = {{"uv__io_poll", tiny_code_address}},
                    .code = {0xb8, 0x01, 0x34, 0x01, 0x00, 0xc3}};

TinyElf without_sections(TinyHash hash) {
  TinyElf elf = valid;
  elf.section_headers = false;
  elf.hash = hash;
  return elf;
}

/// The one way in which a file lies, and what is said about it.
struct Lie {
  const char* message;
  std::function<void(TinyImage&)> tell;
};

size_t section_field(const TinyImage& image, TinySection section, size_t field) {
  return image.sections + section * sizeof(Elf64_Shdr) + field;
}

size_t program_field(size_t index, size_t field) {
  return sizeof(Elf64_Ehdr) + index * sizeof(Elf64_Phdr) + field;
}

size_t dynamic_value(const TinyImage& image, size_t index) {
  return image.dynamic + index * sizeof(Elf64_Dyn) + offsetof(Elf64_Dyn, d_un);
}

void check_refused(const TinyElf& elf, const Lie& lie) {
  TinyImage image = build(elf);
  lie.tell(image);
  const MemoryFile file(image.bytes);
  const auto read = read_image(file.path());
  CAPTURE(lie.message);
  REQUIRE_FALSE(read);
  CHECK_THAT(read.error().message, Contains(lie.message));
  CHECK_THAT(read.error().message, Contains(file.path()));
}

uint64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

TEST_CASE("the file these tests spoil is a good one") {
  CHECK(read_image(MemoryFile(build(valid).bytes).path()));
  CHECK(read_image(MemoryFile(build(without_sections(TinyHash::gnu)).bytes).path()));
  CHECK(read_image(MemoryFile(build(without_sections(TinyHash::sysv)).bytes).path()));
}

TEST_CASE("a lie in the ELF header is refused") {
  const auto at = [](size_t field, auto value) {
    return [=](TinyImage& image) { image.poke(field, value); };
  };
  const std::array lies{
      Lie{"is not an ELF file", at(0, 'x')},
      Lie{"is not a 64-bit ELF file for x86-64", at(EI_CLASS, char{ELFCLASS32})},
      Lie{"is not a 64-bit ELF file for x86-64", at(EI_DATA, char{ELFDATA2MSB})},
      Lie{"is not a 64-bit ELF file for x86-64",
          at(offsetof(Elf64_Ehdr, e_machine), Elf64_Half{EM_AARCH64})},
      Lie{"neither an executable nor a shared library",
          at(offsetof(Elf64_Ehdr, e_type), Elf64_Half{ET_REL})},
      Lie{"too many program headers", at(offsetof(Elf64_Ehdr, e_phnum), Elf64_Half{65})},
      Lie{"too many program headers", at(offsetof(Elf64_Ehdr, e_phnum), Elf64_Half{PN_XNUM})},
      Lie{"no loadable segment", at(offsetof(Elf64_Ehdr, e_phnum), Elf64_Half{0})},
      Lie{"program headers of unknown size", at(offsetof(Elf64_Ehdr, e_phentsize), Elf64_Half{0})},
      Lie{"does not hold", at(offsetof(Elf64_Ehdr, e_phoff), maximum - 8)},
      Lie{"too many section headers", at(offsetof(Elf64_Ehdr, e_shnum), Elf64_Half{4097})},
      Lie{"does not hold", at(offsetof(Elf64_Ehdr, e_shnum), Elf64_Half{4096})},
      Lie{"section headers of unknown size", at(offsetof(Elf64_Ehdr, e_shentsize), Elf64_Half{65})},
      Lie{"does not hold", at(offsetof(Elf64_Ehdr, e_shoff), maximum - 63)},
      Lie{"does not hold", at(offsetof(Elf64_Ehdr, e_shoff), uint64_t{1} << 40)},
  };
  for (const Lie& lie : lies) check_refused(valid, lie);
}

TEST_CASE("a lie in a segment is refused") {
  const auto at = [](size_t field, uint64_t value) {
    return [=](TinyImage& image) { image.poke(program_field(0, field), value); };
  };
  const std::array lies{
      Lie{"a segment past its end", at(offsetof(Elf64_Phdr, p_offset), maximum)},
      Lie{"a segment past its end", at(offsetof(Elf64_Phdr, p_filesz), maximum)},
      Lie{"a segment of impossible size", at(offsetof(Elf64_Phdr, p_memsz), 1)},
      Lie{"a segment of impossible size", at(offsetof(Elf64_Phdr, p_vaddr), maximum - 16)},
      Lie{"a segment of impossible size", at(offsetof(Elf64_Phdr, p_memsz), maximum)},
  };
  for (const Lie& lie : lies) check_refused(valid, lie);
}

TEST_CASE("a lie in a section header is refused") {
  const auto at = [](TinySection section, size_t field, auto value) {
    return [=](TinyImage& image) { image.poke(section_field(image, section, field), value); };
  };
  const auto offset = offsetof(Elf64_Shdr, sh_offset);
  const auto size = offsetof(Elf64_Shdr, sh_size);
  const auto link = offsetof(Elf64_Shdr, sh_link);
  const std::array lies{
      Lie{"a symbol table past its end", at(tiny_dynsym, offset, maximum)},
      Lie{"a symbol table past its end", at(tiny_symtab, size, uint64_t{24} << 20)},
      Lie{"too large a symbol table", at(tiny_symtab, size, maximum)},
      Lie{"a string table past its end", at(tiny_strtab, offset, maximum - 1)},
      Lie{"a string table past its end", at(tiny_dynstr, size, uint64_t{1} << 20)},
      Lie{"too large a string table", at(tiny_dynstr, size, maximum)},
      Lie{"a symbol table without names", at(tiny_dynsym, link, uint32_t{99})},
      Lie{"a symbol table without names", at(tiny_dynsym, link, uint32_t{tiny_symtab})},
      Lie{"symbols of unknown size",
          at(tiny_dynsym, offsetof(Elf64_Shdr, sh_entsize), uint64_t{0})},
  };
  for (const Lie& lie : lies) check_refused(valid, lie);
}

TEST_CASE("a lie in the dynamic segment is refused") {
  const auto at = [](size_t index, uint64_t value) {
    return [=](TinyImage& image) { image.poke(dynamic_value(image, index), value); };
  };
  const auto in_hash = [](size_t word, uint32_t value) {
    return [=](TinyImage& image) { image.poke(image.hash + word * sizeof(value), value); };
  };
  const std::array lies{
      Lie{"holds nothing for address", at(0, 0)},
      Lie{"holds nothing for address", at(1, maximum)},
      Lie{"too large a string table", at(2, maximum)},
      Lie{"a string table past its end", at(2, 1 << 20)},
      Lie{"holds nothing for address", at(3, 1)},
      Lie{"too large a hash table", in_hash(0, 0xffffffff)},
      Lie{"a hash table past the end", in_hash(0, 1 << 20)},
      Lie{"a hash table past the end", in_hash(2, 0xffffffff)},
      Lie{"a hash chain past the end", in_hash(6, 0xffffffff)},
      Lie{"does not hold",
          [](TinyImage& image) {
            image.poke(program_field(1, offsetof(Elf64_Phdr, p_offset)), maximum - 15);
          }},
  };
  for (const Lie& lie : lies) check_refused(without_sections(TinyHash::gnu), lie);
  check_refused(without_sections(TinyHash::sysv),
                {"too large a symbol table", in_hash(1, 0xffffffff)});
  check_refused(without_sections(TinyHash::none), {"no hash table", [](TinyImage&) {}});
}

TEST_CASE("a hash chain without end is refused") {
  TinyImage image = build(without_sections(TinyHash::gnu));
  for (size_t at = image.hash + 7 * 4; at + 4 <= image.bytes.size(); at += 4) {
    image.poke(at, uint32_t{2});
  }
  const auto read = read_image(MemoryFile(image.bytes).path());
  REQUIRE_FALSE(read);
  CHECK_THAT(read.error().message, Contains("a hash chain without end"));
}

TEST_CASE("a name that no NUL ends is not found") {
  TinyImage image = build({.exported = {{"uv_run", tiny_code_address}}});
  const size_t size = section_field(image, tiny_dynstr, offsetof(Elf64_Shdr, sh_size));
  image.poke(size, uint64_t{sizeof("uv_run")});  // the leading NUL is in, the ending one is not
  const auto file = ElfFile::open(MemoryFile(image.bytes).path());
  REQUIRE(file);
  CHECK(file->exported(uv_run).value().empty());
}

TEST_CASE("a string table full of one name is refused") {
  TinyImage image = build({.exported = {{std::string(20000, 'x'), 1}}});
  for (size_t at = 1; at + 7 < 20000; at += 7) {
    std::memcpy(image.bytes.data() + image.dynstr + at, "uv_run", 7);
  }
  const auto file = ElfFile::open(MemoryFile(image.bytes).path());
  REQUIRE(file);
  const auto symbols = file->exported(uv_run);
  REQUIRE_FALSE(symbols);
  CHECK_THAT(symbols.error().message, Contains("repeats a name without end"));
}

TEST_CASE("a file truncated at any length is refused") {
  for (const TinyElf& elf : {valid, without_sections(TinyHash::gnu)}) {
    const auto bytes = build(elf).bytes;
    for (size_t length = 0; length < bytes.size(); ++length) {
      CAPTURE(length);
      CHECK_FALSE(read_image(MemoryFile(std::span(bytes).first(length)).path()));
    }
  }
}

TEST_CASE("no single wrong byte does harm") {
  for (const TinyElf& elf : {valid, without_sections(TinyHash::gnu)}) {
    const auto bytes = build(elf).bytes;
    MemoryFile file(bytes);
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
        file.write(at, std::array{bytes[at] ^ std::byte(flip)});
        (void)read_image(file.path());  // any answer will do; the sanitizers watch
      }
      file.write(at, std::array{bytes[at]});
    }
    CHECK(read_image(file.path()));
  }
}

TEST_CASE("a file truncated after it was opened is an error") {
  MemoryFile content(build(valid).bytes);
  const auto file = ElfFile::open(content.path());
  REQUIRE(file);
  content.resize(100);
  const auto symbols = file->exported(uv_run);
  REQUIRE_FALSE(symbols);
  CHECK_THAT(symbols.error().message, Contains("was truncated"));
}

TEST_CASE("a sparse file of many gigabytes takes little memory") {
  TinyImage image = build(valid);
  const uint64_t symbols_size = uint64_t{60} << 20;
  image.poke(section_field(image, tiny_symtab, offsetof(Elf64_Shdr, sh_size)), symbols_size);
  image.poke(section_field(image, tiny_dynstr, offsetof(Elf64_Shdr, sh_size)), uint64_t{40} << 20);
  MemoryFile content(image.bytes);
  content.resize(uint64_t{16} << 30);
  const uint64_t before = peak_memory_bytes();
  CHECK(read_image(content.path()));
  CHECK(peak_memory_bytes() - before < uint64_t{16} << 20);

  image.poke(section_field(image, tiny_symtab, offsetof(Elf64_Shdr, sh_size)), 5 * symbols_size);
  content.write(0, image.bytes);
  CHECK_FALSE(read_image(content.path()));
}

TEST_CASE("what is not a regular file is refused without waiting for it") {
  std::string folder = "/tmp/uvtap-elf-test-XXXXXX";
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  REQUIRE(mkfifo((folder + "/fifo").c_str(), 0600) == 0);
  std::filesystem::create_symlink("loop", folder + "/loop");

  const auto message = [](const std::string& path) {
    const auto file = read_image(path);
    return file ? std::string() : file.error().message;
  };
  CHECK(message(folder) == folder + " is not a regular file");
  CHECK(message(folder + "/fifo") == folder + "/fifo is not a regular file");
  CHECK(message("/dev/zero") == "/dev/zero is not a regular file");
  CHECK(message(folder + "/none") == folder + "/none cannot be opened: No such file or directory");
  CHECK_THAT(message(folder + "/loop"), Contains("Too many levels of symbolic links"));
  CHECK_THAT(message("/proc/self/status"), Contains("is too short for an ELF file"));
  std::filesystem::remove_all(folder);
}
