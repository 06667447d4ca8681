// SPDX-License-Identifier: Apache-2.0
#include "userspace/governor.h"

#include <catch2/catch.hpp>

using namespace uvtap;

namespace {

constexpr uint64_t second_ns = 1'000'000'000;
constexpr pid_t pid = 7;

/// One process with one loop, ticking once a second under a budget of 2 % and 1 us per hit.
class Ticks {
 public:
  /// A second with so many turns. Whatever is decided is carried out.
  std::vector<Move> with_turns(uint64_t turns) { return after(second_ns, turns); }
  std::vector<Move> after(uint64_t span_ns, uint64_t turns) {
    now_ns_ += span_ns;
    loop_.turns += turns;
    if (!process_.is_spared) loop_.overhead_ns += turns * 1000;
    auto moves = governor_.judge(now_ns_, {&loop_, 1}, {{pid, process_}});
    for (const auto& move : moves) process_.is_spared = move.spare;
    return moves;
  }
  /// How many such seconds it takes until something is decided; at most `limit`.
  unsigned until_move(uint64_t turns, unsigned limit) {
    unsigned seconds = 1;
    while (with_turns(turns).empty() && seconds < limit) ++seconds;
    return seconds;
  }
  [[nodiscard]] bool is_spared() const { return process_.is_spared; }
  void start_another_loop() {
    loop_ = {};
    loop_.id = {pid, 8, now_ns_};
  }

 private:
  static DoorCosts one_microsecond() {
    DoorCosts costs{};
    costs[FRONT_DOOR_IO_POLL] = 1e-6;
    return costs;
  }
  Governor governor_{0.02, one_microsecond()};
  LoopSnapshot loop_ = [] {
    LoopSnapshot loop;
    loop.id = {pid, pid, 1};
    return loop;
  }();
  GovernedProcess process_{FRONT_DOOR_IO_POLL, false};
  uint64_t now_ns_ = 100 * second_ns;
};

}  // namespace

TEST_CASE("a process within the budget keeps its probe", "[governor]") {
  Ticks ticks;
  CHECK(ticks.until_move(19'999, 60) == 60);
  CHECK_FALSE(ticks.is_spared());
}

TEST_CASE("a process over the budget for two seconds is spared", "[governor]") {
  Ticks ticks;
  CHECK(ticks.with_turns(20'000).empty());  // the first tick of a loop says nothing of its rate
  CHECK(ticks.with_turns(25'000).empty());
  const auto moves = ticks.with_turns(30'000);
  REQUIRE(moves.size() == 1);
  CHECK(moves[0].pid == pid);
  CHECK(moves[0].spare);
  CHECK(moves[0].ratio == Approx(0.03));
}

TEST_CASE("one second above the budget is no reason", "[governor]") {
  Ticks ticks;
  for (int i = 0; i < 10; ++i) {
    CHECK(ticks.with_turns(1'000'000).empty());
    CHECK(ticks.with_turns(100).empty());
  }
}

TEST_CASE("ticks that come early are taken together", "[governor]") {
  Ticks ticks;
  for (int i = 0; i < 30; ++i) {
    CHECK(ticks.after(second_ns / 5, 30'000).empty());
    CHECK(ticks.after(second_ns / 5, 30'000).empty());
    CHECK(ticks.after(second_ns / 5 * 3, 100).empty());  // one second above the budget in all
    CHECK(ticks.with_turns(100).empty());
  }
}

TEST_CASE("a calm process gets its probe back after the pause", "[governor]") {
  Ticks ticks;
  ticks.until_move(1'000'000, 10);
  REQUIRE(ticks.is_spared());
  CHECK(ticks.until_move(100, 60) == 10);
  CHECK_FALSE(ticks.is_spared());
}

TEST_CASE("a process that storms on stays spared", "[governor]") {
  Ticks ticks;
  ticks.until_move(1'000'000, 10);
  CHECK(ticks.until_move(15'000, 300) == 300);  // within the budget, but not by far
  CHECK(ticks.until_move(9'000, 60) == 5);
}

TEST_CASE("with each relapse the pause doubles, up to some minutes", "[governor]") {
  Ticks ticks;
  for (unsigned pause : {10U, 20U, 40U, 80U, 160U, 320U, 320U}) {
    ticks.until_move(1'000'000, 10);
    REQUIRE(ticks.is_spared());
    CHECK(ticks.until_move(100, 400) == pause);
  }
}

TEST_CASE("ten good minutes and the pause is short again", "[governor]") {
  Ticks ticks;
  for (int i = 0; i < 3; ++i) {
    ticks.until_move(1'000'000, 10);
    ticks.until_move(100, 400);
  }
  CHECK(ticks.until_move(100, 601) == 601);
  ticks.until_move(1'000'000, 10);
  CHECK(ticks.until_move(100, 400) == 10);
}

TEST_CASE("what a loop did before it was first seen is not held against it", "[governor]") {
  Ticks ticks;
  for (int i = 0; i < 10; ++i) {
    ticks.start_another_loop();
    CHECK(ticks.with_turns(1'000'000).empty());
  }
}
