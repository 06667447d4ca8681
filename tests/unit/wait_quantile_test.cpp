// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/synthetic_loop.h"
#include "userspace/loops/histogram.h"

namespace uvtap {
namespace {

constexpr double quantiles[] = {0.5, 0.75, 0.9, 0.95, 0.99, 0.999};

/// Busy stretches and the idle spans between them, in the order they happen.
class Timeline {
 public:
  void idle(double span_ns) { now_ns_ += span_ns; }
  void busy(double span_ns) {
    add_value(turn_geometry, turns_, static_cast<uint64_t>(span_ns));
    stretches_.push_back({now_ns_, now_ns_ + span_ns});
    now_ns_ += span_ns;
  }

  [[nodiscard]] double computed_ns(double quantile) const {
    return wait_quantile_ns(turns_, static_cast<uint64_t>(now_ns_), quantile);
  }

  /// What clients measure that send at random moments: how long until the stretch is over.
  [[nodiscard]] std::vector<double> measured_ns(std::mt19937_64& random) const {
    std::uniform_real_distribution<double> moment(0, now_ns_);
    std::vector<double> waits;
    for (int i = 0; i < 400'000; ++i) waits.push_back(wait_at(moment(random)));
    std::ranges::sort(waits);
    return waits;
  }

 private:
  struct Stretch {
    double begin_ns;
    double end_ns;
  };

  [[nodiscard]] double wait_at(double moment_ns) const {
    const auto next = std::ranges::upper_bound(stretches_, moment_ns, {}, &Stretch::begin_ns);
    if (next == stretches_.begin()) return 0;
    return std::max(0.0, std::prev(next)->end_ns - moment_ns);
  }

  double now_ns_ = 0;
  SparseHistogram turns_;
  std::vector<Stretch> stretches_;
};

void check_against_clients(const Timeline& timeline, std::mt19937_64& random) {
  const auto waits = timeline.measured_ns(random);
  for (const double q : quantiles) {
    CAPTURE(q);
    const double measured = waits[static_cast<size_t>(q * static_cast<double>(waits.size()))];
    CHECK(timeline.computed_ns(q) == Approx(measured).epsilon(0.03).margin(200'000));
  }
}

TEST_CASE("wait quantiles agree with clients that send at random moments") {
  std::mt19937_64 random(3);
  Timeline timeline;

  SECTION("mixed: many short turns, some of 5 ms, few of 100 ms") {
    std::exponential_distribution<double> gap(1 / 4e6);
    for (int i = 0; i < 4'000; ++i) {
      timeline.idle(gap(random));
      timeline.busy(i % 40 == 0 ? 100e6 : i % 5 == 0 ? 5e6 : 150e3);
    }
    check_against_clients(timeline, random);
  }
  SECTION("saturated: stretches of 80 to 120 ms back to back") {
    std::uniform_real_distribution<double> length(80e6, 120e6);
    for (int i = 0; i < 2'000; ++i) timeline.busy(length(random));
    check_against_clients(timeline, random);
  }
  SECTION("lengths over six powers of ten") {
    std::lognormal_distribution<double> length(15, 2.5);
    std::exponential_distribution<double> gap(1 / 3e6);
    for (int i = 0; i < 20'000; ++i) {
      timeline.idle(gap(random));
      timeline.busy(std::min(length(random), 2e9));
    }
    check_against_clients(timeline, random);
  }
  SECTION("nearly idle") {
    for (int i = 0; i < 1'000; ++i) {
      timeline.idle(99.9e6);
      timeline.busy(100e3);
    }
    check_against_clients(timeline, random);
  }
}

TEST_CASE("stretches of one length are solved exactly") {
  SparseHistogram turns;
  for (int i = 0; i < 5; ++i) add_value(turn_geometry, turns, 100 * ms);
  // Busy half of one second: an arrival waits longer than x with probability 5 * (100 ms - x) / 1
  // s.
  CHECK(wait_quantile_ns(turns, second, 0.50) == Approx(0).margin(1));
  CHECK(wait_quantile_ns(turns, second, 0.90) == Approx(80e6));
  CHECK(wait_quantile_ns(turns, second, 0.99) == Approx(98e6));
}

TEST_CASE("a long stall weighs as long as it lasts, however few turns it is") {
  SparseHistogram turns;
  for (int i = 0; i < 1'000; ++i) add_value(turn_geometry, turns, 100'000);
  add_value(turn_geometry, turns, 2 * second);
  CHECK(wait_quantile_ns(turns, 15 * second, 0.90) == Approx(0.5e9).epsilon(0.01));
  CHECK(wait_quantile_ns(turns, 15 * second, 0.99) == Approx(1.85e9).epsilon(0.01));
}

TEST_CASE("without turns, or with a busy share of no more than 1 - q, the wait is 0") {
  SparseHistogram turns;
  CHECK(wait_quantile_ns(turns, second, 0.99) == 0);
  CHECK(wait_quantile_ns(turns, 0, 0.99) == 0);
  add_value(turn_geometry, turns, 10 * ms);
  CHECK(wait_quantile_ns(turns, second, 0.99) == 0);
  CHECK(wait_quantile_ns(turns, second, 0.995) == Approx(5e6));
}

}  // namespace
}  // namespace uvtap
