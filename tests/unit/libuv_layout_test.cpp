// SPDX-License-Identifier: Apache-2.0
#include "userspace/symbols/libuv_layout.h"

#include <array>
#include <catch2/catch.hpp>
#include <vector>

#include "tests/support/memory_file.h"
#include "tests/support/tiny_elf.h"

using namespace uvtap;
using namespace uvtap::test;
using Catch::Matchers::Contains;

namespace {

using Code = std::vector<uint8_t>;

Result<LibuvVersion> version_of(const Code& code) {
  const MemoryFile content(build({.code = code}).bytes);
  return read_libuv_version(ElfFile::open(content.path()).value(), tiny_code_address);
}

/// How far behind the start of uv_default_loop the pointer stands.
Result<uint64_t> pointer_distance(const Code& code) {
  const MemoryFile content(build({.code = code}).bytes);
  const auto pointer =
      read_default_loop_pointer(ElfFile::open(content.path()).value(), tiny_code_address);
  if (!pointer) return pointer;
  return *pointer - tiny_code_address;
}

}  // namespace

TEST_CASE("the idle counters' places follow the version") {
  for (const uint8_t minor : std::to_array<uint8_t>({39, 40, 43, 44})) {
    const auto layout = libuv_layout({1, minor, 2}).value();
    CHECK(layout.entry_time == 8);
    CHECK(layout.idle_time == 16);
    CHECK(layout.loop_count == 0);
  }
  for (const uint8_t minor : std::to_array<uint8_t>({45, 46, 51, 52})) {
    const auto layout = libuv_layout({1, minor, 1}).value();
    CHECK(layout.entry_time == 136);
    CHECK(layout.idle_time == 144);
    CHECK(layout.loop_count == 8);
  }
}

TEST_CASE("the loop's own fields stand where they always did") {
  const auto layout = libuv_layout({1, 52, 1}).value();
  CHECK(layout.handle_queue == 16);
  CHECK(layout.internal_fields == 40);
  CHECK(layout.backend_fd == 64);
  CHECK(layout.time == 544);
}

TEST_CASE("provider_idle_time follows provider_entry_time, which the BPF programs rely on") {
  for (uint8_t minor = 39; minor <= 52; ++minor) {
    const auto layout = libuv_layout({1, minor, 0}).value();
    CHECK(layout.idle_time == layout.entry_time + 8);
  }
}

TEST_CASE("an unknown version is refused by name") {
  CHECK(libuv_layout({1, 53, 0}).error().message ==
        "libuv 1.53.0 has an unknown layout; uvtap knows 1.39 to 1.52");
  CHECK_FALSE(libuv_layout({1, 38, 1}));
  CHECK_FALSE(libuv_layout({2, 45, 0}));
  CHECK_FALSE(libuv_layout({0, 45, 0}));
}

TEST_CASE("the version is read from the code of uv_version") {
  const LibuvVersion expected{1, 52, 1};
  CHECK(version_of({0xb8, 0x01, 0x34, 0x01, 0x00, 0xc3}).value() == expected);
  // Node 26: push %rbp; mov %rsp,%rbp; mov $0x13401,%eax; pop %rbp; ret
  CHECK(version_of({0x55, 0x48, 0x89, 0xe5, 0xb8, 0x01, 0x34, 0x01, 0x00, 0x5d, 0xc3}).value() ==
        expected);
  // endbr64 first
  CHECK(version_of({0xf3, 0x0f, 0x1e, 0xfa, 0xb8, 0x01, 0x34, 0x01, 0x00, 0xc3}).value() ==
        expected);
  CHECK(to_string(expected) == "1.52.1");
}

TEST_CASE("other code in uv_version is not guessed at") {
  CHECK_THAT(version_of({0xe9, 0, 0, 0, 0}).error().message, Contains("unknown code"));  // jmp
  CHECK_FALSE(version_of({0xb8, 0x01, 0x34, 0x01, 0x00, 0x90}));                         // no ret
  CHECK_THAT(version_of({0xb8, 0, 0, 0, 1, 0xc3}).error().message, Contains("0x1000000"));
  CHECK_FALSE(version_of(Code(64, 0x55)));  // only pushes
}

TEST_CASE("the default loop's pointer is read from the code of uv_default_loop") {
  // Node 26: mov 0x5994dd1(%rip),%rax
  CHECK(pointer_distance({0x48, 0x8b, 0x05, 0xd1, 0x4d, 0x99, 0x05}).value() == 0x5994dd1 + 7);
  // Node 16, 24: push %rbp; mov %rsp,%rbp; push %rbx; sub $8,%rsp; mov …(%rip),%rbx
  CHECK(pointer_distance({0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x08, 0x48, 0x8b, 0x1d,
                          0x18, 0x4d, 0x65, 0x03})
            .value() == 0x3654d18 + 16);
  // Node 20, 22: the same with %r12
  CHECK(pointer_distance({0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x48, 0x83, 0xec, 0x08, 0x4c, 0x8b,
                          0x25, 0x87, 0x44, 0xdc, 0x03})
            .value() == 0x3dc4487 + 17);
  // Debian's libuv1: push %rbp; push %rbx; sub $8,%rsp; mov …(%rip),%rbx
  CHECK(pointer_distance(
            {0x55, 0x53, 0x48, 0x83, 0xec, 0x08, 0x48, 0x8b, 0x1d, 0xdb, 0x0b, 0x02, 0x00})
            .value() == 0x20bdb + 13);
  // endbr64 first, and a pointer that stands before the code
  CHECK(pointer_distance({0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8b, 0x05, 0xf5, 0xff, 0xff, 0xff})
            .value() == 0);
}

TEST_CASE("other code in uv_default_loop is not guessed at") {
  // lea instead of mov; mov through a register; a 32-bit load; a load behind an unknown instruction
  CHECK_FALSE(pointer_distance({0x48, 0x8d, 0x05, 1, 0, 0, 0}));
  CHECK_FALSE(pointer_distance({0x48, 0x8b, 0x03, 1, 0, 0, 0}));
  CHECK_FALSE(pointer_distance({0x8b, 0x05, 1, 0, 0, 0}));
  CHECK_FALSE(pointer_distance({0x31, 0xc0, 0x48, 0x8b, 0x05, 1, 0, 0, 0}));
  CHECK_FALSE(pointer_distance(Code(64, 0x55)));
}

TEST_CASE("code that the segment's end cuts off is not understood") {
  const MemoryFile content(build({}).bytes);
  const auto file = ElfFile::open(content.path()).value();
  const ElfSegment& segment = file.segments().front();
  const uint64_t end = segment.address + segment.file_size;
  CHECK_FALSE(read_libuv_version(file, end - 1));
  CHECK_FALSE(read_libuv_version(file, end));
  CHECK_FALSE(read_default_loop_pointer(file, end - 1));
}
