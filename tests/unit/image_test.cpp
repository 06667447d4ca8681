// SPDX-License-Identifier: Apache-2.0
#include "userspace/symbols/image.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "tests/support/memory_file.h"
#include "tests/support/tiny_elf.h"

using namespace uvtap;
using namespace uvtap::test;
namespace fs = std::filesystem;

namespace {

constexpr uint64_t uv_version_address = tiny_code_address;
constexpr uint64_t uv_default_loop_address = tiny_code_address + 8;
constexpr uint64_t uv_run_address = tiny_code_address + 16;

const TinyElf tiny_node{
    .exported = {{"_ZN4node5StartEiPPc", tiny_code_address},
                 {"_ZN4node11per_process8metadataE", 0x700000, STT_OBJECT},
                 {"uv_version", uv_version_address},
                 {"uv_default_loop", uv_default_loop_address},
                 {"uv_run", uv_run_address}},
    .local = {{"uv__io_poll", uv_run_address + 1}},
    .code = {0xb8, 0x01, 0x34, 0x01, 0x00, 0xc3, 0x90, 0x90,  // mov $0x13401,%eax; ret
             0x48, 0x8b, 0x05, 0x10, 0x00, 0x00, 0x00, 0xc3,  // mov 0x10(%rip),%rax; ret
             0x55, 0x55}};

Image image_of(const TinyElf& elf) {
  return read_image(MemoryFile(build(elf).bytes).path()).value();
}

/// The folders of UVTAP_NODES, each with one installation of Node; none where it is not set.
std::vector<fs::path> node_folders() {
  const char* const root = std::getenv("UVTAP_NODES");
  if (root == nullptr) {
    WARN("skipped: UVTAP_NODES names no folder with Node builds (see scripts/fetch-nodes)");
    return {};
  }
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root)) folders.push_back(entry.path());
  return folders;
}

/// What Node itself says about its libuv, "1.51.0".
std::string ask_for_libuv_version(const fs::path& node) {
  const std::string command = node.string() + " -p process.versions.uv";
  const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
  std::array<char, 32> line{};
  if (!output || std::fgets(line.data(), line.size(), output.get()) == nullptr) return "";
  std::string version = line.data();
  if (version.ends_with('\n')) version.pop_back();
  return version;
}

}  // namespace

TEST_CASE("an image of Node says all that an observer needs") {
  const Image image = image_of(tiny_node);
  CHECK(image.exports_node_start);
  CHECK(image.exports_uv_run);
  CHECK(image.uv_run_offset == uv_run_address - tiny_base_address);
  CHECK(image.io_poll_offset == uv_run_address + 1 - tiny_base_address);
  CHECK_FALSE(image.epoll_wait_offset);
  CHECK(image.libuv_version == LibuvVersion{1, 52, 1});
  CHECK(image.default_loop_pointer == uv_default_loop_address + 7 + 0x10);
  CHECK(image.node_metadata == 0x700000);
  CHECK(image.first_load_address == tiny_base_address);
  CHECK(image.first_load_file_offset == 0);
}

TEST_CASE("an image of a C library offers its epoll functions") {
  const Image image = image_of({.exported = {{"epoll_wait", tiny_base_address + 0x20},
                                             {"epoll_pwait", tiny_base_address + 0x30}}});
  CHECK(image.epoll_wait_offset == 0x20);
  CHECK(image.epoll_pwait_offset == 0x30);
  CHECK_FALSE(image.exports_node_start);
  CHECK_FALSE(image.exports_uv_run);
}

TEST_CASE("uv__io_poll counts only where there is a libuv") {
  CHECK_FALSE(image_of({.local = {{"uv__io_poll", tiny_code_address}}}).io_poll_offset);
}

TEST_CASE("what is not understood is left out and the rest stays") {
  TinyElf elf = tiny_node;
  elf.code.assign(elf.code.size(), 0xcc);
  elf.local.clear();
  const Image image = image_of(elf);
  CHECK(image.uv_run_offset);
  CHECK_FALSE(image.libuv_version);
  CHECK_FALSE(image.default_loop_pointer);
  CHECK_FALSE(image.io_poll_offset);
}

TEST_CASE("a symbol outside the file has no offset") {
  const Image image = image_of({.exported = {{"uv_run", 0x900000}}});
  CHECK(image.exports_uv_run);
  CHECK_FALSE(image.uv_run_offset);
}

TEST_CASE("the first segment's place is given by page") {
  TinyImage tiny = build(tiny_node);
  const size_t load = sizeof(Elf64_Ehdr);
  tiny.poke(load + offsetof(Elf64_Phdr, p_vaddr), tiny_base_address + 0x40);
  tiny.poke(load + offsetof(Elf64_Phdr, p_offset), uint64_t{0x40});
  tiny.poke(load + offsetof(Elf64_Phdr, p_filesz), uint64_t{tiny.sections - 0x40});
  const Image image = read_image(MemoryFile(tiny.bytes).path()).value();
  CHECK(image.first_load_address == tiny_base_address);
  CHECK(image.first_load_file_offset == 0);
}

TEST_CASE("official Node builds are read as they are") {
  for (const fs::path& folder : node_folders()) {
    const fs::path node = folder / "node";
    if (!fs::is_regular_file(node)) continue;
    CAPTURE(node);
    const auto image = read_image(node);
    REQUIRE(image);
    CHECK(image->exports_node_start);
    CHECK(image->uv_run_offset);
    CHECK(image->default_loop_pointer);
    const bool is_stripped = folder.filename().string().find("strip") != std::string::npos;
    CHECK(image->io_poll_offset.has_value() == !is_stripped);
    REQUIRE(image->libuv_version);
    CHECK(to_string(*image->libuv_version) == ask_for_libuv_version(node));
    CHECK(libuv_layout(*image->libuv_version));
  }
}

TEST_CASE("Debian's libraries share the work") {
  for (const fs::path& folder : node_folders()) {
    const fs::path libraries = folder / "usr/lib/x86_64-linux-gnu";
    if (!fs::exists(libraries / "libuv.so.1")) continue;
    CAPTURE(folder);
    const auto libuv = read_image(libraries / "libuv.so.1");
    REQUIRE(libuv);
    CHECK(libuv->uv_run_offset);
    CHECK(libuv->libuv_version == LibuvVersion{1, 44, 2});
    CHECK(libuv->default_loop_pointer);
    CHECK_FALSE(libuv->io_poll_offset);
    CHECK_FALSE(libuv->exports_node_start);

    const auto libnode = read_image(libraries / "libnode.so.108");
    REQUIRE(libnode);
    CHECK(libnode->exports_node_start);
    CHECK(libnode->node_metadata);
    CHECK_FALSE(libnode->exports_uv_run);
  }
}
