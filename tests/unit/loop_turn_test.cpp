// SPDX-License-Identifier: Apache-2.0
#include "bpf/loop_turn.h"

#include <catch2/catch.hpp>
#include <memory>
#include <numeric>
#include <random>
#include <span>

namespace {

constexpr uint64_t resolution_ms = 20;
constexpr uint64_t ms = NS_PER_MS;
constexpr uint64_t second = 1000 * ms;

/// A loop whose time passes as the test says.
class Loop {
 public:
  explicit Loop(uint64_t begin_ns = 1000 * second) : now_ns_(begin_ns) {
    const turn_look look = this->look(0);
    loop_begins(slot_.get(), &look, resolution_ms);
  }

  /// Waits, then is busy, then enters the next poll, which may wait for timeout_ms.
  int turn(uint64_t idle_ns, uint64_t busy_ns, int timeout_ms = -1) {
    pass(idle_ns, busy_ns);
    const turn_look look = this->look(timeout_ms);
    return loop_turns(slot_.get(), &look, resolution_ms);
  }
  void pass(uint64_t idle_ns, uint64_t busy_ns) {
    now_ns_ += idle_ns + busy_ns;
    idle_counter_ns_ += idle_ns;
    cpu_ns_ += busy_ns;
  }
  /// A signal comes after the loop has waited so long; libuv forgets the wait and starts it anew.
  void interrupt(uint64_t waited_ns, bool is_stop) {
    const uint64_t entry_time_ns = now_ns_;
    now_ns_ += waited_ns;
    loop_is_interrupted(slot_.get(), now_ns_, entry_time_ns, is_stop ? 1 : 0);
  }
  void stay_stopped(uint64_t stopped_ns) { now_ns_ += stopped_ns; }

  [[nodiscard]] turn_look look(int timeout_ms) const {
    return {now_ns_, idle_counter_ns_, cpu_ns_, 0, timeout_ms};
  }
  [[nodiscard]] loop_slot& slot() { return *slot_; }
  [[nodiscard]] uint64_t now_ns() const { return now_ns_; }
  void set_idle_counter(uint64_t value_ns) { idle_counter_ns_ = value_ns; }

 private:
  std::unique_ptr<loop_slot> slot_ = std::make_unique<loop_slot>();
  uint64_t now_ns_;
  uint64_t idle_counter_ns_ = 7 * second;
  uint64_t cpu_ns_ = 3 * second;
};

histogram_bucket total(std::span<const histogram_bucket> histogram) {
  return std::accumulate(histogram.begin(), histogram.end(), histogram_bucket{},
                         [](histogram_bucket sum, const histogram_bucket& bucket) {
                           return histogram_bucket{sum.count + bucket.count,
                                                   sum.sum_ns + bucket.sum_ns};
                         });
}

uint64_t longest_delay_ns(const loop_slot& slot) {
  uint64_t longest_ns = 0;
  for (const auto& bucket : slot.delay_histogram)
    if (bucket.count) longest_ns = bucket.sum_ns / bucket.count;
  return longest_ns;
}

}  // namespace

TEST_CASE("a turn is cut into waiting and working") {
  Loop loop;
  CHECK(loop.turn(30 * ms, 5 * ms) == 0);
  CHECK(loop.turn(0, 12 * ms) == 0);
  CHECK(loop.slot().turns == 2);
  CHECK(loop.slot().idle_ns == 30 * ms);
  CHECK(loop.slot().active_ns == 17 * ms);
  CHECK(loop.slot().cpu_ns == 17 * ms);
  CHECK(total(loop.slot().turn_histogram).count == 2);
  CHECK(total(loop.slot().turn_histogram).sum_ns == 17 * ms);
}

TEST_CASE("a counter that goes back starts the count anew and loses no total") {
  Loop loop;
  loop.turn(30 * ms, 5 * ms);
  loop.set_idle_counter(0);
  CHECK(loop.turn(10 * ms, 5 * ms) == -1);
  CHECK(loop.slot().active_ns == 5 * ms);
  CHECK(loop.turn(10 * ms, 5 * ms) == 0);
  CHECK(loop.slot().active_ns == 10 * ms);
  CHECK(loop.slot().idle_ns == 40 * ms);
}

TEST_CASE("every value has a bucket, and larger values never a smaller one") {
  uint32_t last_turn = 0;
  uint32_t last_delay = 0;
  for (uint64_t value_ns = 1; value_ns < (1ULL << 40); value_ns += value_ns / 7 + 1) {
    const auto turn = histogram_index(value_ns, TURN_MIN_SHIFT, TURN_SUB_BITS, TURN_BUCKETS);
    const auto delay = histogram_index(value_ns, DELAY_MIN_SHIFT, DELAY_SUB_BITS, DELAY_BUCKETS);
    REQUIRE(turn >= last_turn);
    REQUIRE(delay >= last_delay);
    REQUIRE(turn < TURN_BUCKETS);
    REQUIRE(delay < DELAY_BUCKETS);
    last_turn = turn;
    last_delay = delay;
  }
  CHECK(last_turn == TURN_BUCKETS - 1);
  CHECK(last_delay == DELAY_BUCKETS - 1);
  CHECK(histogram_index(0, TURN_MIN_SHIFT, TURN_SUB_BITS, TURN_BUCKETS) == 0);
  CHECK(histogram_index(~0ULL, TURN_MIN_SHIFT, TURN_SUB_BITS, TURN_BUCKETS) == TURN_BUCKETS - 1);
}

TEST_CASE("a wait that a signal interrupts stays idle time, though libuv forgets it") {
  Loop loop;
  loop.turn(0, 1 * ms);
  loop.interrupt(1 * second, false);
  loop.turn(2 * second, 1 * ms);
  CHECK(loop.slot().idle_ns == 3 * second);
  CHECK(loop.slot().active_ns == 2 * ms);
  CHECK(loop.slot().repaired_idle_ns == 1 * second);
}

TEST_CASE("several signals in one wait are not counted twice") {
  Loop loop;
  loop.turn(0, 1 * ms);
  const uint64_t entry_time_ns = loop.now_ns();
  loop.interrupt(300 * ms, false);
  // The second one comes before libuv has started its wait anew: the same entry time.
  loop_is_interrupted(&loop.slot(), loop.now_ns(), entry_time_ns, 0);
  loop.turn(100 * ms, 1 * ms);
  CHECK(loop.slot().idle_ns == 400 * ms);
}

TEST_CASE("a loop that is stopped while it waits is not busy") {
  Loop loop;
  loop.turn(0, 1 * ms);
  loop.interrupt(1 * second, true);
  loop.stay_stopped(5 * second);
  loop.turn(2 * second, 1 * ms);
  CHECK(loop.slot().idle_ns == 8 * second);
  CHECK(loop.slot().active_ns == 2 * ms);
}

TEST_CASE("a long wait holds all the firings that the timer would have had") {
  Loop loop;
  loop.turn(0, 1 * ms);
  loop.turn(60 * second, 1 * ms);
  const auto delays = total(loop.slot().delay_histogram);
  CHECK(delays.count >= 2990);
  CHECK(delays.count <= 3000);
  const double mean_ms =
      static_cast<double>(delays.sum_ns) / static_cast<double>(delays.count) / ms;
  CHECK(mean_ms == Approx(20.03).margin(0.05));
}

TEST_CASE("a busy stretch delays the timer by what it lasts") {
  Loop loop;
  loop.turn(0, 1 * ms);
  loop.turn(50 * ms, 500 * ms);
  loop.turn(50 * ms, 1 * ms);
  CHECK(longest_delay_ns(loop.slot()) > 495 * ms);
  CHECK(longest_delay_ns(loop.slot()) < 525 * ms);
}

TEST_CASE("the intervals between firings add up to the time between the first and the last") {
  std::mt19937_64 random(20260101);
  auto up_to = [&](uint64_t limit) { return random() % limit; };
  for (int run = 0; run < 200; ++run) {
    Loop loop(1000 * second + up_to(second));
    uint64_t first_firing_ns = 0;
    for (int turn = 0; turn < 300; ++turn) {
      const int timeout_ms = static_cast<int>(up_to(120)) - 1;
      const uint64_t asked_ns = loop.slot().poll_timeout_ms > 0
                                    ? static_cast<uint64_t>(loop.slot().poll_timeout_ms) * ms
                                    : 0;
      uint64_t idle_ns = up_to(200 * ms);
      if (loop.slot().poll_timeout_ms == 0) idle_ns = 0;
      if (asked_ns && idle_ns > asked_ns) idle_ns = asked_ns + up_to(100'000);
      loop.turn(idle_ns, up_to(turn % 10 ? 4 * ms : 150 * ms), timeout_ms);
      const uint64_t firing_ns = loop.slot().timer.previous_firing_ns;
      if (first_firing_ns == 0 && firing_ns != 0)
        first_firing_ns = firing_ns - total(loop.slot().delay_histogram).sum_ns;
      REQUIRE(firing_ns <= loop.now_ns());
    }
    const auto& timer = loop.slot().timer;
    const uint64_t apart_ns = timer.previous_firing_ns - first_firing_ns;
    REQUIRE(total(loop.slot().delay_histogram).sum_ns == apart_ns);
    // It never stays silent: it is due within the resolution of its last firing.
    REQUIRE(timer.expiry_ms <= timer.previous_firing_ns / ms + resolution_ms);
    REQUIRE(loop.now_ns() - timer.previous_firing_ns < 500 * ms);
  }
}

TEST_CASE("the turn in progress: a loop that waits is not stalled") {
  Loop loop;
  loop.turn(0, 1 * ms);
  loop.pass(10 * second, 0);
  const turn_look look = loop.look(0);
  CHECK(loop_in_progress(&loop.slot(), &look, 1, resolution_ms) == 0);
  CHECK(loop.slot().idle_ns == 10 * second);
  CHECK(loop.slot().turns == 1);
  CHECK(total(loop.slot().turn_histogram).count == 1);
  CHECK(total(loop.slot().delay_histogram).count >= 495);
}

TEST_CASE("the turn in progress: a loop that is stuck shows since when") {
  Loop loop;
  loop.turn(0, 1 * ms);
  loop.pass(2 * second, 30 * second);
  const turn_look look = loop.look(0);
  CHECK(loop_in_progress(&loop.slot(), &look, 0, resolution_ms) == 30 * second);
  CHECK(loop.slot().active_ns == 30 * second + 1 * ms);
  CHECK(loop.slot().idle_ns == 2 * second);
  CHECK(total(loop.slot().turn_histogram).count == 1);
}

TEST_CASE("the slack follows how late timed-out polls return") {
  Loop loop;
  loop.turn(0, 1 * ms, 10);
  for (int i = 0; i < 500; ++i) loop.turn(10 * ms + 80'000, 100'000, 10);
  CHECK(loop.slot().timer.slack_ns == Approx(80'000).margin(1'000));
}
