// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "bpf/loop_contract.h"
#include "tests/fuzz/fuzz.h"

namespace uvtap::fuzz {

inline histogram_bucket total(std::span<const histogram_bucket> histogram) {
  histogram_bucket sum{};
  for (const histogram_bucket& bucket : histogram) {
    sum.count += bucket.count;
    sum.sum_ns += bucket.sum_ns;
  }
  return sum;
}

inline bool is_forward(std::span<const histogram_bucket> before,
                       std::span<const histogram_bucket> after) {
  return std::ranges::equal(before, after, [](const auto& old, const auto& now) {
    return old.count <= now.count && old.sum_ns <= now.sum_ns;
  });
}

/// No total goes back.
inline void require_forward(const loop_slot& before, const loop_slot& after) {
  require(before.turns <= after.turns && before.hits <= after.hits, "counts go forward");
  require(before.active_ns <= after.active_ns && before.idle_ns <= after.idle_ns,
          "active and idle time go forward");
  require(before.cpu_ns <= after.cpu_ns && before.runqueue_ns <= after.runqueue_ns &&
              before.repaired_idle_ns <= after.repaired_idle_ns,
          "CPU and run-queue time go forward");
  require(is_forward(before.turn_histogram, after.turn_histogram) &&
              is_forward(before.delay_histogram, after.delay_histogram),
          "histograms go forward");
}

/// A loop that is observed since `begin_ns`, now: its account adds up, and never to more time than
/// has passed.
inline void require_consistent(const loop_slot& slot, uint64_t begin_ns, uint64_t now_ns) {
  const uint64_t passed_ns = now_ns - begin_ns;
  require(slot.active_ns <= passed_ns && slot.idle_ns <= passed_ns - slot.active_ns,
          "active and idle time fit into the time that has passed");
  require(slot.repaired_idle_ns <= slot.idle_ns, "what was repaired is a part of the idle time");
  const histogram_bucket turns = total(slot.turn_histogram);
  require(turns.count == slot.turns, "every turn is in one bucket");
  require(turns.sum_ns <= slot.active_ns, "busy stretches are active time");
  require(total(slot.delay_histogram).sum_ns <= passed_ns, "delays do not overlap");
  require(slot.timer.previous_firing_ns <= now_ns, "the timer has not fired in the future");
}

}  // namespace uvtap::fuzz
