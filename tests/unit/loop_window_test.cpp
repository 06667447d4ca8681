// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/loop_window.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/support/synthetic_loop.h"

namespace uvtap {
namespace {

constexpr uint64_t born = 1'000 * second;
constexpr uint64_t window_ns = 15 * second;

/// One second: half of it idle, then turns of 100 ms.
void half_busy_second(SyntheticLoop& loop) {
  loop.idle(500 * ms);
  for (int i = 0; i < 5; ++i) loop.turn(100 * ms);
  loop.fire_timer(100 * ms);
}

TEST_CASE("the window holds the last fifteen seconds") {
  SyntheticLoop loop(1, born);
  LoopWindow window(born, window_ns);
  for (int i = 0; i < 10; ++i) {
    half_busy_second(loop);
    window.advance(loop.snapshot());
  }
  CHECK(window.sums().totals.active_ns == 5 * second);
  CHECK(total_count(window.sums().turn_histogram) == 50);

  for (int i = 0; i < 15; ++i) {
    loop.idle(second);
    window.advance(loop.snapshot());
  }
  CHECK(window.sums().totals.active_ns == 0);
  CHECK(window.sums().totals.idle_ns == 15 * second);
  CHECK(window.sums().totals.turns == 0);
  CHECK(total_count(window.sums().turn_histogram) == 0);
  CHECK(total_count(window.sums().delay_histogram) == 0);
}

TEST_CASE("ticks a little early or late leave the window at fifteen deltas") {
  std::mt19937_64 random(4);
  std::uniform_int_distribution<uint64_t> jitter(970 * ms, 1'030 * ms);
  SyntheticLoop loop(1, born);
  LoopWindow window(born, window_ns);
  for (int i = 0; i < 200; ++i) {
    loop.turn(ms);
    loop.idle(jitter(random) - ms);
    window.advance(loop.snapshot());
    if (i >= 20) REQUIRE(window.sums().totals.turns == 15);
  }
}

TEST_CASE("a late tick is measured in time, not in ticks") {
  SyntheticLoop loop(1, born);
  LoopWindow window(born, window_ns);
  for (int i = 0; i < 15; ++i) {
    loop.turn(second);
    window.advance(loop.snapshot());
  }
  loop.idle(10 * second);
  window.advance(loop.snapshot());
  CHECK(window.sums().totals.active_ns == 5 * second);
  CHECK(window.sums().totals.idle_ns == 10 * second);

  SECTION("and one later than the window itself is all there is") {
    loop.idle(40 * second);
    window.advance(loop.snapshot());
    CHECK(window.sums().totals.active_ns == 0);
    CHECK(window.sums().totals.idle_ns == 40 * second);
  }
}

TEST_CASE("a delta holds what the snapshot added") {
  SyntheticLoop loop(1, born);
  LoopWindow window(born, window_ns);
  half_busy_second(loop);
  window.advance(loop.snapshot());
  loop.turn(7 * ms);
  loop.turn(7 * ms);
  loop.idle(ms);
  const LoopDelta& delta = window.advance(loop.snapshot());
  CHECK(delta.begin_ns == born + second);
  CHECK(delta.end_ns == born + second + (15 * ms));
  CHECK(delta.totals.active_ns == 14 * ms);
  CHECK(delta.totals.cpu_ns == 14 * ms);
  CHECK(delta.totals.idle_ns == ms);
  CHECK(delta.totals.turns == 2);
  REQUIRE(delta.finished_turns.size() == 1);
  CHECK(delta.finished_turns[0].count == 2);
  CHECK(delta.finished_turns[0].sum_ns == 14 * ms);
  CHECK(delta.finished_turns[0].bucket == turn_geometry.bucket_of(7 * ms));
  CHECK(delta.finished_delays.empty());
}

TEST_CASE("the timer of an idle loop fires without a turn") {
  SyntheticLoop loop(1, born);
  LoopWindow window(born, window_ns);
  loop.idle(second);
  loop.fire_timer(20 * ms);
  CHECK(window.advance(loop.snapshot()).finished_delays.size() == 1);
  CHECK(total_count(window.sums().delay_histogram) == 1);
}

TEST_CASE("totals that go back change nothing, also when they come up again") {
  SyntheticLoop loop(1, born);
  LoopWindow window(born, window_ns);
  half_busy_second(loop);
  window.advance(loop.snapshot());

  LoopSnapshot back = loop.snapshot();
  back.taken_at_ns += second;
  back.active_ns -= 100 * ms;
  back.turns -= 1;
  back.turn_histogram.front().count -= 1;
  const LoopDelta& none = window.advance(back);
  CHECK(none.totals.active_ns == 0);
  CHECK(none.totals.turns == 0);
  CHECK(none.finished_turns.empty());

  loop.idle(2 * second);
  CHECK(window.advance(loop.snapshot()).totals.active_ns == 0);
  CHECK(window.sums().totals.active_ns == 500 * ms);
  CHECK(total_count(window.sums().turn_histogram) == 5);
}

TEST_CASE("a new loop covers one second when one second has passed") {
  SyntheticLoop loop(1, born);
  LoopWindow window(born, window_ns);
  CHECK_FALSE(window.covers_one_second(born + (2 * second)));
  loop.idle(700 * ms);
  window.advance(loop.snapshot());
  CHECK_FALSE(window.covers_one_second(loop.snapshot().taken_at_ns));
  loop.idle(300 * ms);
  window.advance(loop.snapshot());
  CHECK(window.covers_one_second(loop.snapshot().taken_at_ns));
}

TEST_CASE("a window of one second always covers it, also when a tick comes early") {
  SyntheticLoop loop(1, born);
  LoopWindow window(born, second);
  for (int i = 0; i < 3; ++i) {
    loop.idle(second);
    window.advance(loop.snapshot());
  }
  loop.idle(second - ms);
  window.advance(loop.snapshot());
  CHECK(window.covers_one_second(loop.snapshot().taken_at_ns));
}

TEST_CASE("an ended loop fades until nothing is left") {
  SyntheticLoop loop(1, born);
  LoopWindow window(born, window_ns);
  for (int i = 0; i < 3; ++i) {
    half_busy_second(loop);
    window.advance(loop.snapshot());
  }
  CHECK(window.finish() == nullptr);
  CHECK(window.ended());
  const uint64_t end = loop.snapshot().taken_at_ns;
  window.expire(end + (13 * second));
  CHECK(window.sums().totals.active_ns == second);
  CHECK_FALSE(window.empty());
  window.expire(end + (15 * second));
  CHECK(window.empty());
  CHECK(window.sums().totals.active_ns == 0);
  CHECK(window.sums().busy_stretches_ns == 0);
}

TEST_CASE("the end finishes a stretch in progress, once") {
  SyntheticLoop loop(1, born);
  LoopWindow window(born, window_ns);
  loop.be_busy(3 * second);
  loop.set_overdue(3 * second);
  window.advance(loop.snapshot());
  CHECK(window.stall_ns() == 3 * second);
  CHECK(window.overdue_delay_ns() == 3 * second);
  CHECK(total_count(window.sums().turn_histogram) == 0);

  const LoopDelta* last = window.finish();
  REQUIRE(last != nullptr);
  CHECK(last->totals.turns == 1);
  CHECK(last->finished_turns.at(0).sum_ns == 3 * second);
  CHECK(window.stall_ns() == 0);
  CHECK(window.overdue_delay_ns() == 0);
  CHECK(total_count(window.sums().turn_histogram) == 1);
  CHECK(window.finish() == nullptr);
}

TEST_CASE("a stretch longer than the window stretches the time that waits are shares of") {
  SyntheticLoop loop(1, born);
  LoopWindow window(born, window_ns);
  for (int i = 0; i < 30; ++i) {
    loop.be_busy(second);
    window.advance(loop.snapshot());
  }
  CHECK(window.sums().totals.active_ns == 15 * second);
  CHECK(window.observed_ns() == 30 * second);
  loop.finish_turn();
  loop.idle(second);
  window.advance(loop.snapshot());
  CHECK(window.observed_ns() == 30 * second);
}

}  // namespace
}  // namespace uvtap
