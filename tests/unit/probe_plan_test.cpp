// SPDX-License-Identifier: Apache-2.0
#include "userspace/symbols/probe_plan.h"

#include <catch2/catch.hpp>

using namespace uvtap;

namespace {

const DoorPreference automatic = {FRONT_DOOR_IO_POLL, FRONT_DOOR_TRACEPOINT, FRONT_DOOR_EPOLL,
                                  FRONT_DOOR_MEMORY};

LoadedImage official_node() {
  LoadedImage node{.inode = {1, 10}, .path = "node", .image = {}, .mapped_at = 0x400000};
  node.image.exports_node_start = true;
  node.image.exports_uv_run = true;
  node.image.uv_run_offset = 0x1000;
  node.image.io_poll_offset = 0x2000;
  node.image.libuv_version = LibuvVersion{1, 51, 0};
  node.image.default_loop_pointer = 0x5000000;
  node.image.first_load_address = 0x400000;
  return node;
}

LoadedImage libc() {
  LoadedImage libc{.inode = {1, 20}, .path = "libc", .image = {}, .mapped_at = 0x7f0000000000};
  libc.image.epoll_wait_offset = 0x3000;
  libc.image.epoll_pwait_offset = 0x3100;
  return libc;
}

LoadedImage stripped_node() {
  auto node = official_node();
  node.image.io_poll_offset.reset();
  return node;
}

}  // namespace

TEST_CASE("an official build is observed at uv__io_poll") {
  auto outcome = plan_probes({official_node(), libc()}, automatic);
  REQUIRE(outcome.plan);
  CHECK(outcome.plan->door == FRONT_DOOR_IO_POLL);
  CHECK(outcome.plan->io_poll->file_offset == 0x2000);
  CHECK(outcome.plan->uv_run->file_offset == 0x1000);
  CHECK(outcome.plan->default_loop_pointer == 0x5000000);
}

TEST_CASE("a stripped build is observed through the next door") {
  auto outcome = plan_probes({stripped_node(), libc()}, automatic);
  REQUIRE(outcome.plan);
  CHECK(outcome.plan->door == FRONT_DOOR_TRACEPOINT);
}

TEST_CASE("libuv in a library of its own is found, and addresses follow where it was mapped") {
  LoadedImage libnode{.inode = {1, 30}, .path = "libnode", .image = {}};
  libnode.image.exports_node_start = true;
  LoadedImage libuv{.inode = {1, 40},
                    .path = "libuv",
                    .image = {},
                    .mapped_at = 0x7f1234509000,
                    .mapped_file_offset = 0x9000};
  libuv.image.exports_uv_run = true;
  libuv.image.libuv_version = LibuvVersion{1, 44, 2};
  libuv.image.default_loop_pointer = 0x2f000;
  auto outcome = plan_probes({libnode, libuv, libc()}, automatic);
  REQUIRE(outcome.plan);
  CHECK(outcome.plan->default_loop_pointer == 0x7f123452f000);
  CHECK(outcome.plan->layout.entry_time == 8);
}

TEST_CASE("a forced door that cannot work is refused with its reason") {
  auto outcome = plan_probes({stripped_node(), libc()}, {FRONT_DOOR_IO_POLL});
  REQUIRE(outcome.unsupported);
  CHECK(outcome.unsupported->reason == "no_front_door");
  CHECK(outcome.unsupported->message.find("stripped") != std::string::npos);
  CHECK(plan_probes({official_node()}, {FRONT_DOOR_EPOLL}).unsupported);
}

TEST_CASE("what only imitates libuv is not taken for Node.js") {
  auto bun = official_node();
  bun.image.exports_node_start = false;
  auto outcome = plan_probes({bun, libc()}, automatic);
  CHECK_FALSE(outcome.plan);
  REQUIRE(outcome.unsupported);
  CHECK(outcome.unsupported->reason == "not_node");
}

TEST_CASE("an unknown libuv is named, not guessed") {
  auto node = official_node();
  node.image.libuv_version = LibuvVersion{1, 60, 3};
  auto outcome = plan_probes({node, libc()}, automatic);
  REQUIRE(outcome.unsupported);
  CHECK(outcome.unsupported->reason == "unknown_libuv");
  CHECK(outcome.unsupported->message.find("1.60.3") != std::string::npos);
}

TEST_CASE("a process that has nothing to do with libuv is no concern of ours") {
  auto outcome = plan_probes({libc()}, automatic);
  CHECK_FALSE(outcome.plan);
  CHECK_FALSE(outcome.unsupported);
}

TEST_CASE("no probe is put into a file whose file system may never answer") {
  auto remote = official_node();
  remote.takes_probes = false;
  auto outcome = plan_probes({remote, libc()}, automatic);
  REQUIRE(outcome.plan);
  CHECK(outcome.plan->door == FRONT_DOOR_TRACEPOINT);
  CHECK_FALSE(outcome.plan->uv_run);

  outcome = plan_probes({remote, libc()}, {FRONT_DOOR_IO_POLL});
  REQUIRE(outcome.unsupported);
  CHECK(outcome.unsupported->message.find("FUSE") != std::string::npos);
}
