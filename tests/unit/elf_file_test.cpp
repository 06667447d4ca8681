// SPDX-License-Identifier: Apache-2.0
#include "userspace/symbols/elf_file.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/epoll.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/support/memory_file.h"
#include "tests/support/tiny_elf.h"

using namespace uvtap;
using namespace uvtap::test;

/// A function of this program whose place in the executable is looked up below.
extern "C" int uvtap_test_landmark(int value) { return value * 3 + 1; }

namespace {

constexpr std::array<std::string_view, 3> wanted{"uv_run", "uv__io_poll", "other"};

Result<ElfFile> open(const TinyElf& elf) {
  return ElfFile::open(MemoryFile(build(elf).bytes).path());
}

SymbolAddresses exported(const TinyElf& elf) { return open(elf).value().exported(wanted).value(); }

/// Where a library is loaded, and its file; the program itself has an empty name.
struct LoadedObject {
  uint64_t base = 0;
  std::string path;
};

LoadedObject find_loaded(std::string_view name_part) {
  struct Search {
    std::string_view name_part;
    LoadedObject found;
  } search{name_part, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& looking = *static_cast<Search*>(data);
        const std::string_view name = info->dlpi_name;
        const bool matches =
            looking.name_part.empty() ? name.empty() : name.find(looking.name_part) != name.npos;
        if (!matches) return 0;
        looking.found = {info->dlpi_addr, name.empty() ? "/proc/self/exe" : std::string(name)};
        return 1;
      },
      &search);
  return search.found;
}

}  // namespace

TEST_CASE("exported and local symbols are found by name") {
  const TinyElf elf{.exported = {{"uv_run", 0x400100}, {"unwanted", 0x400200}},
                    .local = {{"uv__io_poll", 0x400300}, {"uv_run", 0x400100}}};
  const auto file = open(elf);
  REQUIRE(file);
  CHECK(file->exported(wanted).value() == SymbolAddresses{{"uv_run", 0x400100}});
  CHECK(file->local(wanted).value() ==
        SymbolAddresses{{"uv__io_poll", 0x400300}, {"uv_run", 0x400100}});
  CHECK(file->exported({}).value().empty());
}

TEST_CASE("only defined functions and objects count") {
  CHECK(exported({.exported = {{"uv_run", 1, STT_FUNC, false}}}).empty());
  CHECK(exported({.exported = {{"uv_run", 1, STT_GNU_IFUNC}}}).empty());
  CHECK(exported({.exported = {{"uv_run", 1, STT_NOTYPE}}}).empty());
  CHECK(exported({.exported = {{"uv_run", 1, STT_OBJECT}}}) == SymbolAddresses{{"uv_run", 1}});
}

TEST_CASE("names are compared whole") {
  CHECK(exported({.exported = {{"uv_run_more", 1}, {"my_uv_run", 2}, {"uv_ru", 3}}}).empty());
}

TEST_CASE("a name may be the tail of a longer one") {
  CHECK(exported({.exported = {{"my_uv_run", 1}, {"uv_run", 2}}}) ==
        SymbolAddresses{{"uv_run", 2}});
}

TEST_CASE("of two symbols with one name the first counts") {
  CHECK(exported({.exported = {{"uv_run", 1}, {"uv_run", 2}}}) == SymbolAddresses{{"uv_run", 1}});
}

TEST_CASE("a name across the border of two pieces is found") {
  for (size_t before_border = 0; before_border <= 8; ++before_border) {
    CAPTURE(before_border);
    // The table begins with a NUL, the padding ends in one.
    const std::string padding(RegularFile::piece_bytes - 2 - before_border, 'x');
    CHECK(exported({.exported = {{padding, 1}, {"uv_run", 2}}}) == SymbolAddresses{{"uv_run", 2}});
  }
}

TEST_CASE("a symbol beyond the first piece is found") {
  TinyElf elf;
  elf.exported.assign(RegularFile::piece_bytes / sizeof(Elf64_Sym) + 10, {"unwanted", 1});
  elf.exported.push_back({"uv_run", 2});
  CHECK(exported(elf) == SymbolAddresses{{"uv_run", 2}});
}

TEST_CASE("without section headers the dynamic segment leads to the exported symbols") {
  const auto hash = GENERATE(TinyHash::gnu, TinyHash::sysv);
  const TinyElf elf{.exported = {{"unwanted", 1}, {"uv_run", 2}},
                    .local = {{"uv__io_poll", 3}},
                    .hash = hash,
                    .section_headers = false};
  const auto file = open(elf);
  REQUIRE(file);
  CHECK(file->exported(wanted).value() == SymbolAddresses{{"uv_run", 2}});
  CHECK(file->local(wanted).value().empty());
}

TEST_CASE("a file that exports nothing has no symbols") {
  CHECK(exported({}).empty());
  CHECK(exported({.section_headers = false}).empty());
}

TEST_CASE("an address becomes a file offset through its segment") {
  const auto image = build({.code = {1, 2, 3, 4}});
  const uint64_t mapped_size = image.sections;
  const auto file = ElfFile::open(MemoryFile(image.bytes).path());
  REQUIRE(file);
  CHECK(file->file_offset_of(tiny_code_address).value() == tiny_code_offset);
  CHECK(file->file_offset_of(tiny_base_address).value() == 0);
  CHECK(file->file_offset_of(tiny_base_address + mapped_size / 2).value() == mapped_size / 2);
  CHECK_FALSE(file->file_offset_of(tiny_base_address - 1));
  CHECK_FALSE(file->file_offset_of(tiny_base_address + mapped_size + 8));  // .bss
  CHECK_FALSE(file->file_offset_of(0));
  CHECK_FALSE(file->file_offset_of(~uint64_t{0}));
}

TEST_CASE("code is read up to the end of its segment and no further") {
  const auto file = open({.code = {1, 2, 3, 4}});
  REQUIRE(file);
  std::array<uint8_t, 4> code{};
  REQUIRE(file->read_at(tiny_code_address, std::as_writable_bytes(std::span(code))));
  CHECK(code == std::array<uint8_t, 4>{1, 2, 3, 4});

  const ElfSegment& segment = file->segments().front();
  const uint64_t near_end = segment.address + segment.file_size - 3;
  CHECK(file->read_some(near_end, std::as_writable_bytes(std::span(code))).value() == 3);
  CHECK_FALSE(file->read_at(near_end, std::as_writable_bytes(std::span(code))));
  CHECK_FALSE(file->read_some(near_end + 3, std::as_writable_bytes(std::span(code))));
}

TEST_CASE("this program's own function is where the file says") {
  const auto program = find_loaded("");
  const auto file = ElfFile::open(program.path);
  REQUIRE(file);
  const auto symbols = file->local(std::array<std::string_view, 1>{"uvtap_test_landmark"});
  REQUIRE(symbols);
  REQUIRE(symbols->size() == 1);
  const uint64_t address = symbols->begin()->second;
  const auto* in_memory = reinterpret_cast<const std::byte*>(&uvtap_test_landmark);
  CHECK(program.base + address == reinterpret_cast<uint64_t>(in_memory));

  std::array<std::byte, 4> in_file{};
  REQUIRE(file->read_at(address, in_file));
  CHECK(std::memcmp(in_file.data(), in_memory, in_file.size()) == 0);
}

TEST_CASE("libc's epoll functions are where the loader finds them") {
  const auto libc = find_loaded("libc.so.6");
  if (libc.path.empty()) {
    WARN("skipped: this program is not linked with glibc");
    return;
  }
  const auto file = ElfFile::open(libc.path);
  REQUIRE(file);
  const auto symbols = file->exported(std::array<std::string_view, 2>{"epoll_wait", "epoll_pwait"});
  REQUIRE(symbols);
  REQUIRE(symbols->size() == 2);
  void* handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  REQUIRE(handle != nullptr);
  for (const auto& [name, address] : *symbols) {
    CAPTURE(name);
    CHECK(libc.base + address == reinterpret_cast<uint64_t>(dlsym(handle, name.c_str())));
  }
  dlclose(handle);
}
