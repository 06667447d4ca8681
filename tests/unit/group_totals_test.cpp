// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/group_totals.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/support/synthetic_loop.h"

namespace uvtap {
namespace {

size_t bound_index(BucketBounds bounds_ns, uint64_t bound_ns) {
  return static_cast<size_t>(std::ranges::find(bounds_ns, bound_ns) - bounds_ns.begin());
}

/// A loop whose deltas go into totals.
class CountedLoop {
 public:
  const CumulativeFigures& tick() {
    totals_.add(window_.advance(loop.snapshot()));
    figures_ = totals_.figures(std::vector{window_.stall_ns()});
    return figures_;
  }
  SyntheticLoop loop{1, 0};

 private:
  LoopWindow window_{0, 15 * second};
  GroupTotals totals_;
  CumulativeFigures figures_;
};

uint64_t waits_up_to(const CumulativeFigures& figures, uint64_t bound_ns) {
  return figures.waits.cumulative_counts[bound_index(wait_bounds_ns, bound_ns)];
}

TEST_CASE("bounds rise, as a histogram's must") {
  for (const BucketBounds bounds : {BucketBounds(turn_bounds_ns), BucketBounds(wait_bounds_ns),
                                    BucketBounds(delay_bounds_ns)}) {
    CHECK(std::ranges::is_sorted(bounds, std::ranges::less_equal{}));
  }
}

TEST_CASE("a value at a bound belongs to it, one above does not") {
  ValueHistogram histogram(delay_bounds_ns);
  const auto gain = [](uint64_t value, uint32_t count) {
    return OccupiedBucket{.sum_ns = value * count, .count = count, .bucket = 0};
  };
  histogram.add(std::vector{gain(20 * ms, 3), gain((20 * ms) + 1, 2), gain(60 * second, 1)});
  const HistogramFigures figures = histogram.figures();
  CHECK(figures.cumulative_counts.size() == delay_bounds_ns.size());
  CHECK(figures.cumulative_counts[bound_index(delay_bounds_ns, 10 * ms)] == 0);
  CHECK(figures.cumulative_counts[bound_index(delay_bounds_ns, 20 * ms)] == 3);
  CHECK(figures.cumulative_counts[bound_index(delay_bounds_ns, 21 * ms)] == 5);
  CHECK(figures.cumulative_counts.back() == 5);
  CHECK(figures.count == 6);
  CHECK(figures.sum_seconds == Approx(60.1));
}

TEST_CASE("waits are counted in one arrival per observed millisecond") {
  CountedLoop counted;
  counted.loop.idle(600 * ms);
  for (int i = 0; i < 4; ++i) counted.loop.turn(100 * ms);
  const auto& figures = counted.tick();
  CHECK(figures.waits.count == 1'000);
  CHECK(waits_up_to(figures, 100 * ms) == 1'000);
  CHECK(waits_up_to(figures, 50 * ms) == 800);  // of each stretch the first 50 ms wait longer
  CHECK(waits_up_to(figures, 25 * ms) == 700);  // of each the first 75
  CHECK(waits_up_to(figures, 1 * ms) == 604);
  CHECK(figures.waits.sum_seconds == Approx(4 * 100 * 0.05));
}

TEST_CASE("a stretch in progress counts in waits, but not among finished turns") {
  CountedLoop counted;
  counted.loop.idle(second);
  counted.loop.be_busy(4 * second);
  const auto& stuck = counted.tick();
  CHECK(stuck.waits.count == 5'000);
  CHECK(waits_up_to(stuck, second) == 2'000);
  CHECK(stuck.waits.sum_seconds == Approx(4'000 * 2));
  CHECK(stuck.turns.count == 0);
  CHECK(stuck.totals.turns == 0);
  CHECK(stuck.totals.active_ns == 4 * second);

  counted.loop.finish_turn();
  const auto& over = counted.tick();
  CHECK(waits_up_to(over, second) == 2'000);
  CHECK(over.waits.sum_seconds == Approx(4'000 * 2));
  CHECK(over.turns.count == 1);
  CHECK(over.turns.sum_seconds == Approx(4));
}

void check_not_less(const HistogramFigures& now, const HistogramFigures& before) {
  REQUIRE(now.count >= before.count);
  REQUIRE(now.sum_seconds >= before.sum_seconds);
  for (size_t i = 0; i < now.cumulative_counts.size(); ++i) {
    REQUIRE(now.cumulative_counts[i] >= before.cumulative_counts[i]);
    REQUIRE(now.cumulative_counts[i] <= now.count);
    if (i > 0) REQUIRE(now.cumulative_counts[i] >= now.cumulative_counts[i - 1]);
  }
}

TEST_CASE("nothing ever goes back, whatever the loop does") {
  std::mt19937_64 random(5);
  std::lognormal_distribution<double> length(17, 3);
  CountedLoop counted;
  CumulativeFigures before = counted.tick();
  for (int i = 0; i < 5'000; ++i) {
    const auto span_ns = static_cast<uint64_t>(std::min(length(random), 40e9));
    switch (random() % 3) {
      case 0:
        counted.loop.be_busy(span_ns);
        break;
      case 1:
        counted.loop.turn(span_ns);
        break;
      default:
        if (counted.loop.snapshot().stall_ns != 0) counted.loop.finish_turn();
        counted.loop.idle(span_ns);
        counted.loop.fire_timer(span_ns);
    }
    const CumulativeFigures now = counted.tick();
    check_not_less(now.turns, before.turns);
    check_not_less(now.delays, before.delays);
    check_not_less(now.waits, before.waits);
    before = now;
  }
  CHECK(before.turns.count > 1'000);
  CHECK(before.waits.cumulative_counts.front() > 0);
}

}  // namespace
}  // namespace uvtap
