// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "userspace/loops/loop_window.h"
#include "userspace/metrics/bucket_bounds.h"
#include "userspace/metrics/container_metrics.h"

namespace uvtap {

/// A cumulative histogram of finished values. A bucket's gain in one tick goes by its mean.
class ValueHistogram {
 public:
  explicit ValueHistogram(BucketBounds bounds_ns);
  void add(Buckets gains);
  [[nodiscard]] HistogramFigures figures() const;

 private:
  BucketBounds bounds_ns_;
  std::vector<uint64_t> counts_;  ///< one per bound, and one above the last; not cumulative
  uint64_t sum_ns_ = 0;
};

/// The cumulative histogram of waits, counted in notional arrivals: one per observed millisecond.
/// Of a stretch that lasts B, the arrivals that wait longer than x are those in its first B - x.
class WaitHistogram {
 public:
  WaitHistogram();
  void add(uint64_t observed_ns, Buckets finished_turns);
  /// With the stretches in progress. Never less than what it returned before, although finished
  /// stretches are only known by the mean of their bucket.
  [[nodiscard]] const HistogramFigures& figures(std::span<const uint64_t> in_progress_ns);

 private:
  uint64_t observed_ns_ = 0;
  std::vector<double> longer_ns_;  ///< per bound: the time in which an arrival waits longer
  double sum_seconds_ = 0;
  HistogramFigures published_;
};

/// What a group of loops did so far, put together from deltas: it keeps what ended loops added.
class GroupTotals {
 public:
  void add(const LoopDelta& delta);
  [[nodiscard]] CumulativeFigures figures(std::span<const uint64_t> in_progress_ns);

 private:
  LoopTotals totals_;
  ValueHistogram turns_{turn_bounds_ns};
  ValueHistogram delays_{delay_bounds_ns};
  WaitHistogram waits_;
};

}  // namespace uvtap
