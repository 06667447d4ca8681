// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "userspace/loops/loop_table.h"
#include "userspace/probes/lifecycle_events.h"

using namespace uvtap;

namespace {

BpfPrograms load(uint32_t max_loops = 16, uint32_t max_loops_per_owner = 16) {
  auto programs =
      BpfPrograms::load({.max_loops = max_loops, .max_loops_per_owner = max_loops_per_owner});
  if (!programs) FAIL(programs.error().message);
  return std::move(*programs);
}

/// The events of one process, in their order.
class Watcher {
 public:
  Watcher(LifecycleEvents& events, pid_t pid) : events_(&events), pid_(pid) {}

  /// False when no event of this kind comes for five seconds.
  bool await(lifecycle_kind kind) {
    while (!seen_.contains(kind)) {
      pollfd readable{events_->fd(), POLLIN, 0};
      if (poll(&readable, 1, 5000) != 1) return false;
      events_->take([&](const lifecycle_event& event) {
        if (event.tgid == static_cast<uint32_t>(pid_)) seen_.insert(event.kind);
      });
    }
    return true;
  }

 private:
  LifecycleEvents* events_;
  pid_t pid_;
  std::set<uint32_t> seen_;
};

pid_t run_true() {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(127);
  }
  return child;
}

loop_slot slot_of(uint32_t tgid, uint32_t tid) {
  loop_slot slot{};
  slot.tgid = tgid;
  slot.tid = tid;
  slot.turns = 7;
  slot.turn_histogram[3].count = 7;
  return slot;
}

}  // namespace

TEST_CASE("the files that a process maps are known by their inodes") {
  auto programs = load();
  auto files = programs.mapped_files()->of(getpid());
  REQUIRE(files);
  struct stat own{};
  REQUIRE(stat("/proc/self/exe", &own) == 0);
  CHECK(std::ranges::any_of(*files, [&](const auto& file) { return file.inode == own.st_ino; }));
  CHECK(std::ranges::all_of(*files, [](const auto& file) {
    return file.tgid == static_cast<uint32_t>(getpid()) && file.start < file.end;
  }));
}

TEST_CASE("a process that is gone maps nothing") {
  auto programs = load();
  const pid_t child = run_true();
  waitpid(child, nullptr, 0);
  auto files = programs.mapped_files()->of(child);
  REQUIRE(files);
  CHECK(files->empty());
}

TEST_CASE("an exec is reported, and the end of an observed process") {
  auto programs = load();
  REQUIRE(programs.start_lifecycle());
  auto events = LifecycleEvents::open(programs);
  REQUIRE(events);
  int gate[2];
  REQUIRE(pipe(gate) == 0);
  const pid_t child = fork();
  if (child == 0) {
    char go = 0;
    if (read(gate[0], &go, 1) == 1) execl("/bin/true", "true", nullptr);
    _exit(127);
  }
  REQUIRE(programs.observe(child, {FRONT_DOOR_IO_POLL, 136, 0, 0}));
  REQUIRE(write(gate[1], "x", 1) == 1);
  Watcher watcher(**events, child);
  CHECK(watcher.await(LIFECYCLE_EXEC));
  CHECK(watcher.await(LIFECYCLE_EXIT));
  waitpid(child, nullptr, 0);
  close(gate[0]);
  close(gate[1]);
}

TEST_CASE("a loop found in memory gets a slot, once") {
  auto programs = load();
  auto table = LoopTable::map(programs);
  REQUIRE(table);
  REQUIRE(table->add(slot_of(100, 101)));
  REQUIRE(table->add(slot_of(100, 101)));
  REQUIRE(table->entries().size() == 1);
  loop_slot copy{};
  table->read(table->entries().front().index, copy);
  CHECK(copy.tgid == 100);
  CHECK(copy.turns == 7);
  CHECK(copy.turn_histogram[3].count == 7);
  table->remove_process(100);
  CHECK(table->entries().empty());
}

TEST_CASE("an owner gets its share of the slots and no more, and what it returns again") {
  auto programs = load(16, 2);
  auto table = LoopTable::map(programs);
  REQUIRE(table);
  const uint32_t greedy = *table->shares().join("greedy");
  const uint32_t other = *table->shares().join("other");
  loop_slot loop = slot_of(100, 101);
  const auto add = [&](uint32_t owner) {
    loop.owner = owner;
    ++loop.tid;
    return table->add(loop);
  };
  REQUIRE(add(greedy));
  REQUIRE(add(greedy));
  --loop.tid;
  auto third = add(greedy);
  REQUIRE_FALSE(third);
  CHECK(third.error().message.find("--max-loops-per-container") != std::string::npos);
  CHECK(table->shares().full() == std::vector<std::string>{"greedy"});
  CHECK(add(other));
  table->remove(table->entries().front());
  table->remove_process(100);
  CHECK(table->shares().full().empty());
  CHECK(add(greedy));
}

TEST_CASE("a loop that has its slot already takes no second share") {
  auto programs = load(16, 2);
  auto table = LoopTable::map(programs);
  REQUIRE(table);
  loop_slot loop = slot_of(100, 101);
  loop.owner = *table->shares().join("");
  for (int i = 0; i < 5; ++i) CHECK(table->add(loop));
  loop.tid = 102;
  CHECK(table->add(loop));
}

TEST_CASE("a container may have as many processes as loops; a process in none is alone") {
  auto programs = load(16, 2);
  auto table = LoopTable::map(programs);
  REQUIRE(table);
  LoopShares& shares = table->shares();
  const auto first = shares.join("pod/container");
  REQUIRE(first);
  CHECK(shares.join("pod/container") == *first);
  CHECK_FALSE(shares.join("pod/container"));
  shares.leave(*first);
  CHECK(shares.join("pod/container") == *first);
  shares.leave(*first);
  shares.leave(*first);
  CHECK(shares.join("pod/container") != *first);
  const auto one = shares.join("");
  const auto two = shares.join("");
  const auto three = shares.join("");
  REQUIRE((one && two && three));
  CHECK(*one != *two);
}

TEST_CASE("when all slots are taken that is said, and a freed one is empty") {
  auto programs = load(2);
  auto table = LoopTable::map(programs);
  REQUIRE(table);
  REQUIRE(table->add(slot_of(100, 101)));
  REQUIRE(table->add(slot_of(100, 102)));
  auto third = table->add(slot_of(100, 103));
  REQUIRE_FALSE(third);
  CHECK(third.error().message.find("--max-loops") != std::string::npos);
  table->remove_process(100);
  loop_slot empty{};
  empty.tgid = 100;
  empty.tid = 104;
  REQUIRE(table->add(empty));
  loop_slot copy{};
  table->read(table->entries().front().index, copy);
  CHECK(copy.turns == 0);
  CHECK(copy.turn_histogram[3].count == 0);
}
