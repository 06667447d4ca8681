// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/container_metrics.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/support/synthetic_loop.h"

namespace uvtap {
namespace {

constexpr uint64_t born = 1'000 * second;

/// A loop together with its window.
class WatchedLoop {
 public:
  explicit WatchedLoop(pid_t pid) : loop(pid, born), window(born, 15 * second) {}
  void tick() { window.advance(loop.snapshot()); }

  SyntheticLoop loop;
  LoopWindow window;
};

std::optional<WindowFigures> figures_of(std::vector<const LoopWindow*> windows, uint64_t now_ns) {
  return window_figures(windows, now_ns);
}

TEST_CASE("no figures before the first full second, nor without loops") {
  WatchedLoop a(1);
  a.loop.turn(900 * ms);
  a.tick();
  CHECK_FALSE(figures_of({&a.window}, born + (900 * ms)));
  CHECK_FALSE(figures_of({}, born + second));
  a.loop.idle(300 * ms);
  a.tick();
  const auto figures = figures_of({&a.window}, born + (1'200 * ms));
  REQUIRE(figures);
  CHECK(figures->utilization == Approx(0.75));
}

TEST_CASE("utilization is that of all loops together, and the maximum that of the busiest") {
  WatchedLoop a(1);
  WatchedLoop b(2);
  a.loop.turn(200 * ms);
  a.loop.idle(800 * ms);
  b.loop.turn(800 * ms);
  b.loop.idle(200 * ms);
  a.tick();
  b.tick();
  const auto figures = figures_of({&a.window, &b.window}, born + second);
  REQUIRE(figures);
  CHECK(figures->utilization == Approx(0.5));
  CHECK(figures->utilization_max == Approx(0.8));
}

TEST_CASE("where active time went is told in shares of all time, turns in those of all loops") {
  WatchedLoop a(1);
  WatchedLoop b(2);
  a.loop.turn(200 * ms);
  a.loop.turn(200 * ms);
  a.loop.idle(600 * ms);
  b.loop.idle(1'000 * ms);
  a.tick();
  b.tick();
  const auto figures = figures_of({&a.window, &b.window}, born + second);
  REQUIRE(figures);
  CHECK(figures->active.cpu == Approx(0.2));
  CHECK(figures->active.runqueue == Approx(0));
  CHECK(figures->active.blocked == Approx(0));
  CHECK(figures->turns_per_second == Approx(2));
}

TEST_CASE("a loop in its first second does not disturb the others") {
  WatchedLoop old_loop(1);
  WatchedLoop new_loop(2);
  old_loop.loop.idle(5 * second);
  old_loop.tick();
  new_loop.window = LoopWindow(born + (4'800 * ms), 15 * second);
  new_loop.loop.turn(200 * ms);
  LoopSnapshot first = new_loop.loop.snapshot();
  first.taken_at_ns = born + (5 * second);
  new_loop.window.advance(first);
  const auto figures = figures_of({&old_loop.window, &new_loop.window}, born + (5 * second));
  REQUIRE(figures);
  CHECK(figures->utilization == 0);
  CHECK(figures->utilization_max == 0);
}

TEST_CASE("percentiles come from merged histograms, not from averaged percentiles") {
  WatchedLoop quick(1);
  WatchedLoop slow(2);
  for (int i = 0; i < 98; ++i) quick.loop.fire_timer(20 * ms);
  for (int i = 0; i < 2; ++i) slow.loop.fire_timer(500 * ms);
  quick.loop.idle(second);
  slow.loop.turn(second);
  quick.tick();
  slow.tick();
  const auto figures = figures_of({&quick.window, &slow.window}, born + second);
  REQUIRE(figures);
  REQUIRE(figures->delay);
  CHECK(figures->delay->min_seconds == Approx(0.020).epsilon(1.0 / 64));  // within its bucket
  CHECK(figures->delay->mean_seconds == Approx(0.0296));
  CHECK(figures->delay->p50_seconds == Approx(0.020));
  CHECK(figures->delay->p90_seconds == Approx(0.020));
  CHECK(figures->delay->p95_seconds == Approx(0.020));
  CHECK(figures->delay->p99_seconds == Approx(0.500));
  CHECK(figures->delay->max_seconds == Approx(0.500).epsilon(1.0 / 64));
}

TEST_CASE("without a firing there is no delay, and no zero in its place") {
  WatchedLoop a(1);
  a.loop.idle(second);
  a.tick();
  const auto figures = figures_of({&a.window}, born + second);
  REQUIRE(figures);
  CHECK_FALSE(figures->delay);
  CHECK(figures->wait.max_seconds == 0);
}

TEST_CASE("a stuck loop shows while it is stuck") {
  WatchedLoop a(1);
  a.loop.idle(15 * second);
  a.loop.fire_timer(20 * ms);
  a.tick();
  double previous_p90 = 0;
  for (uint64_t stuck = 1; stuck <= 40; ++stuck) {
    a.loop.be_busy(second);
    a.loop.set_overdue(stuck * second);
    a.tick();
    const auto figures = figures_of({&a.window}, a.loop.snapshot().taken_at_ns);
    REQUIRE(figures);
    CHECK(figures->wait.max_seconds == Approx(static_cast<double>(stuck)));
    CHECK(figures->delay->max_seconds == Approx(static_cast<double>(stuck)));
    CHECK(figures->wait.p90_seconds >= previous_p90);
    if (stuck >= 2) CHECK(figures->wait.p90_seconds > previous_p90);
    previous_p90 = figures->wait.p90_seconds;
    if (stuck >= 15) CHECK(figures->utilization == 1);
  }
  CHECK(previous_p90 == Approx(36));  // nine tenths of forty seconds
}

}  // namespace
}  // namespace uvtap
