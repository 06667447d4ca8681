// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/sampled_loop.h"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "bpf/loop_turn.h"

using namespace uvtap;

namespace {

constexpr uint64_t ms = NS_PER_MS;
constexpr uint64_t resolution_ms = 20;

/// A loop as libuv keeps account of it, looked at every two milliseconds.
class Victim {
 public:
  Victim() {
    loop_slot slot{};
    const turn_look look{now_ns_, 0, 0, 0, 0};
    loop_begins(&slot, &look, resolution_ms);
    sampled_ = std::make_unique<SampledLoop>(slot, LibuvLayout{});
  }
  void wait(uint64_t duration_ns) {
    counters_.loop_count++;
    counters_.entry_time_ns = now_ns_;
    pass(duration_ns);
    counters_.idle_time_ns += now_ns_ - counters_.entry_time_ns;
    counters_.entry_time_ns = 0;
    counters_.loop_time_ms = now_ns_ / ms;
  }
  void poll_without_waiting() {
    counters_.loop_count++;
    counters_.loop_time_ms = now_ns_ / ms;
  }
  void work(uint64_t duration_ns) { pass(duration_ns); }
  /// A signal comes: libuv starts the wait anew.
  void wait_interrupted(uint64_t before_ns, uint64_t after_ns) {
    counters_.loop_count++;
    counters_.entry_time_ns = now_ns_;
    pass(before_ns);
    counters_.entry_time_ns = now_ns_;
    pass(after_ns);
    counters_.idle_time_ns += after_ns;
    counters_.entry_time_ns = 0;
    counters_.loop_time_ms = now_ns_ / ms;
  }
  /// One look at counters that are made up.
  bool lie(const std::function<void(LoopCounters&)>& falsify) {
    LoopCounters false_counters = counters_;
    false_counters.taken_at_ns = now_ns_ += 2 * ms;
    falsify(false_counters);
    return sampled_->advance(false_counters, resolution_ms);
  }
  [[nodiscard]] uint64_t now_ns() const { return now_ns_; }
  [[nodiscard]] const loop_slot& slot() const { return sampled_->slot(); }

 private:
  void pass(uint64_t duration_ns) {
    const uint64_t until_ns = now_ns_ + duration_ns;
    for (; next_look_ns_ < until_ns; next_look_ns_ += 2 * ms) {
      counters_.taken_at_ns = next_look_ns_;
      sampled_->advance(counters_, resolution_ms);
    }
    now_ns_ = until_ns;
  }

  uint64_t now_ns_ = 5'000'000'000;
  uint64_t next_look_ns_ = now_ns_ + 1 * ms;
  LoopCounters counters_;
  std::unique_ptr<SampledLoop> sampled_;
};

uint64_t stretches_around(const loop_slot& slot, uint64_t length_ns) {
  const auto index = histogram_index(length_ns, TURN_MIN_SHIFT, TURN_SUB_BITS, TURN_BUCKETS);
  uint64_t count = 0;
  for (uint32_t bucket = index - 1; bucket <= index + 1; ++bucket)
    count += slot.turn_histogram[bucket].count;
  return count;
}

}  // namespace

TEST_CASE("waits and work that are longer than the looks are apart are seen as they were") {
  Victim victim;
  for (int i = 0; i < 10; ++i) {
    victim.wait(40 * ms);
    victim.work(90 * ms);
  }
  victim.wait(10 * ms);
  CHECK(victim.slot().active_ns == 900 * ms);
  CHECK(victim.slot().idle_ns == 400 * ms);
  CHECK(stretches_around(victim.slot(), 90 * ms) == 10);
}

TEST_CASE("a short turn after a long one does not cut the long one in two") {
  Victim victim;
  for (int i = 0; i < 10; ++i) {
    victim.wait(40 * ms);
    victim.work(90 * ms);
    victim.poll_without_waiting();
    victim.work(100'000);
  }
  victim.wait(10 * ms);
  CHECK(victim.slot().turns >= 20);
  CHECK(stretches_around(victim.slot(), 89 * ms) == 10);
}

TEST_CASE("a loop that never waits shows its turns by their count") {
  Victim victim;
  for (int i = 0; i < 10; ++i) {
    victim.poll_without_waiting();
    victim.work(100 * ms);
  }
  victim.wait(10 * ms);
  CHECK(victim.slot().active_ns == 1000 * ms);
  CHECK(stretches_around(victim.slot(), 100 * ms) >= 9);
}

TEST_CASE("a wait that a signal interrupts stays idle time") {
  Victim victim;
  victim.wait_interrupted(1000 * ms, 500 * ms);
  victim.work(10 * ms);
  victim.wait(10 * ms);
  CHECK(victim.slot().idle_ns == 1500 * ms);
  CHECK(victim.slot().active_ns == 10 * ms);
}

TEST_CASE("counters that lie about the time do not add to it") {
  constexpr uint64_t begin_ns = 5'000 * ms;
  const auto lie = GENERATE(
      LoopCounters{.entry_time_ns = UINT64_MAX, .loop_count = 2},     // waits since the future
      LoopCounters{.idle_time_ns = UINT64_MAX / 2, .loop_count = 2},  // waited for 292 years
      LoopCounters{.loop_count = 2, .loop_time_ms = UINT64_MAX / 2},  // a clock far ahead
      LoopCounters{.entry_time_ns = 5'050 * ms, .idle_time_ns = UINT64_MAX / 2, .loop_count = 2});
  loop_slot slot{};
  const turn_look look{begin_ns, 0, 0, 0, 0};
  loop_begins(&slot, &look, resolution_ms);
  SampledLoop loop(slot, LibuvLayout{});
  LoopCounters counters = lie;
  for (int i = 1; i <= 10; ++i) {
    counters.taken_at_ns = begin_ns + static_cast<uint64_t>(i) * 10 * ms;
    counters.loop_count++;
    loop.advance(counters, resolution_ms);
    CHECK(loop.slot().poll_entry_ns <= counters.taken_at_ns);
    CHECK(loop.slot().active_ns + loop.slot().idle_ns <= counters.taken_at_ns - begin_ns);
  }
}

TEST_CASE("counters that cannot be are not believed: no more time passes than the clock says") {
  constexpr uint64_t years_ns = uint64_t{1} << 63;
  const std::vector<std::function<void(LoopCounters&)>> lies = {
      [](LoopCounters& counters) { counters.entry_time_ns = years_ns; },
      [](LoopCounters& counters) { counters.idle_time_ns += years_ns; },
      [](LoopCounters& counters) { counters.idle_time_ns = ~uint64_t{0}; },
      [](LoopCounters& counters) { counters.idle_time_ns += 100 * ms; },
      [](LoopCounters& counters) { counters.idle_time_ns = 0; },
  };
  for (const auto& falsify : lies) {
    Victim victim;
    victim.wait(40 * ms);
    victim.work(90 * ms);
    victim.wait(10 * ms);
    const uint64_t began_ns = victim.slot().poll_entry_ns;
    const uint64_t counted_ns = victim.slot().active_ns + victim.slot().idle_ns;
    CHECK_FALSE(victim.lie(falsify));
    for (int look = 0; look < 5; ++look) victim.lie(falsify);
    CHECK(victim.slot().poll_entry_ns <= victim.now_ns());
    CHECK(victim.slot().active_ns + victim.slot().idle_ns - counted_ns <=
          victim.now_ns() - began_ns);
  }
}

TEST_CASE("turns and the loop's own clock may say anything: time stays what it is") {
  Victim victim;
  victim.wait(40 * ms);
  victim.work(90 * ms);
  const uint64_t began_ns = victim.slot().poll_entry_ns;
  const uint64_t counted_ns = victim.slot().active_ns + victim.slot().idle_ns;
  for (int look = 0; look < 50; ++look)
    CHECK(victim.lie([&](LoopCounters& counters) {
      counters.loop_count = ~uint64_t{0} << look;
      counters.loop_time_ms = ~uint64_t{0} << look;
    }));
  CHECK(victim.slot().poll_entry_ns <= victim.now_ns());
  CHECK(victim.slot().active_ns + victim.slot().idle_ns - counted_ns <= victim.now_ns() - began_ns);
}
