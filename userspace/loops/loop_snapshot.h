// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>

#include "bpf/loop_contract.h"
#include "userspace/loops/histogram.h"

namespace uvtap {

/// Names one loop for as long as it lives; never reused for another one.
struct LoopId {
  pid_t pid = 0;
  pid_t tid = 0;
  uint64_t observed_since_ns = 0;
  auto operator<=>(const LoopId&) const = default;
};

/// One loop at one moment: all totals count from when it was first observed, and never go back from
/// one snapshot of a loop to the next.
struct LoopSnapshot {
  LoopId id;
  bool is_worker = false;  ///< not the process's main thread
  front_door door = FRONT_DOOR_NONE;
  uint64_t taken_at_ns = 0;
  bool ended = false;  ///< its thread is gone: the last snapshot there will be

  /// Totals, the turn in progress counted up to taken_at_ns.
  uint64_t active_ns = 0;
  uint64_t idle_ns = 0;
  /// Where the active time went; the three add up to active_ns.
  uint64_t cpu_ns = 0;
  uint64_t runqueue_ns = 0;
  uint64_t blocked_ns = 0;
  uint64_t turns = 0;
  uint64_t overhead_ns = 0;  ///< CPU time that being observed has cost its thread

  /// Age of the busy stretch in progress; 0 while the loop waits in epoll.
  uint64_t stall_ns = 0;
  /// The delay sample in progress: how long ago the virtual timer last fired, when it is overdue
  /// because the loop is busy; else 0.
  uint64_t overdue_delay_ns = 0;

  /// Finished busy stretches, by length.
  SparseHistogram turn_histogram;
  /// Finished intervals between firings of the virtual timer.
  SparseHistogram delay_histogram;
};

}  // namespace uvtap
