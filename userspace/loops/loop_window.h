// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "userspace/loops/histogram.h"
#include "userspace/loops/loop_snapshot.h"

namespace uvtap {

/// The totals that are no histograms.
struct LoopTotals {
  uint64_t active_ns = 0;
  uint64_t idle_ns = 0;
  uint64_t cpu_ns = 0;
  uint64_t runqueue_ns = 0;
  uint64_t blocked_ns = 0;
  uint64_t turns = 0;
  uint64_t overhead_ns = 0;  ///< CPU time that being observed cost
  LoopTotals& operator+=(const LoopTotals& other);
  LoopTotals& operator-=(const LoopTotals& other);
};

/// What happened in one loop between two snapshots.
struct LoopDelta {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  LoopTotals totals;
  SparseHistogram finished_turns;
  SparseHistogram finished_delays;
};

/// The sums over a window.
struct WindowSums {
  LoopTotals totals;
  uint64_t busy_stretches_ns = 0;  ///< the sum of the turn histogram
  SparseHistogram turn_histogram;
  SparseHistogram delay_histogram;
};

/// One loop over the last window_ns, moved on by each snapshot. A delta leaves when the greater
/// part of it is older than the window, so a tick that comes a little early or late changes
/// nothing.
class LoopWindow {
 public:
  LoopWindow(uint64_t observed_since_ns, uint64_t window_ns);

  /// Takes in a snapshot of the loop and returns what it adds to the previous one (to nothing, for
  /// the first). No part of it is ever negative. Valid until the next call.
  const LoopDelta& advance(const LoopSnapshot& snapshot);

  /// The loop has ended. That also finishes a busy stretch in progress; the delta holding that turn
  /// is returned, or null where there was none. From now on the window only fades.
  const LoopDelta* finish();

  /// Drops what is older than the window. While the loop lives the newest delta stays: after a very
  /// late tick it is all there is.
  void expire(uint64_t now_ns);

  /// Nothing left: true some time after finish().
  [[nodiscard]] bool empty() const { return deltas_.empty(); }
  [[nodiscard]] bool ended() const { return ended_; }
  /// Whether the loop has been observed for a second: before that its figures say little.
  [[nodiscard]] bool covers_one_second(uint64_t now_ns) const;

  [[nodiscard]] const WindowSums& sums() const { return sums_; }
  /// As in the last snapshot; 0 once the loop has ended.
  [[nodiscard]] uint64_t stall_ns() const { return stall_ns_; }
  [[nodiscard]] uint64_t overdue_delay_ns() const { return overdue_delay_ns_; }
  /// The time that the wait figures speak of: the window, or the busy stretches in it together with
  /// the one in progress where they are longer because one began before the window.
  [[nodiscard]] uint64_t observed_ns() const;

 private:
  [[nodiscard]] LoopDelta difference(const LoopSnapshot& snapshot);
  void append(LoopDelta delta);
  void drop_oldest();

  uint64_t observed_since_ns_;
  uint64_t window_ns_;
  LoopSnapshot previous_;
  std::deque<LoopDelta> deltas_;
  WindowSums sums_;
  uint64_t stall_ns_ = 0;
  uint64_t overdue_delay_ns_ = 0;
  bool ended_ = false;
};

}  // namespace uvtap
