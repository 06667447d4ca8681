// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/group_totals.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "userspace/metrics/units.h"

namespace uvtap {
namespace {

constexpr double arrivals_per_ns = 1e-6;

double mean_of(const OccupiedBucket& gain) {
  return static_cast<double>(gain.sum_ns) / static_cast<double>(gain.count);
}

/// The waits in a stretch fall evenly from its length to 0, so its arrivals wait half of it.
double waits_seconds(double stretch_ns) {
  return stretch_ns * arrivals_per_ns * seconds(stretch_ns) / 2;
}

uint64_t arrivals(double span_ns) {
  return span_ns <= 0 ? 0 : static_cast<uint64_t>(span_ns * arrivals_per_ns);
}

}  // namespace

ValueHistogram::ValueHistogram(BucketBounds bounds_ns)
    : bounds_ns_(bounds_ns), counts_(bounds_ns.size() + 1) {}

void ValueHistogram::add(Buckets gains) {
  for (const OccupiedBucket& gain : gains) {
    const auto bound = std::ranges::lower_bound(bounds_ns_, gain.sum_ns / gain.count);
    counts_[static_cast<size_t>(bound - bounds_ns_.begin())] += gain.count;
    sum_ns_ += gain.sum_ns;
  }
}

HistogramFigures ValueHistogram::figures() const {
  HistogramFigures figures;
  figures.cumulative_counts.resize(counts_.size());
  std::partial_sum(counts_.begin(), counts_.end(), figures.cumulative_counts.begin());
  figures.count = figures.cumulative_counts.back();
  figures.cumulative_counts.pop_back();
  figures.sum_seconds = seconds(sum_ns_);
  return figures;
}

WaitHistogram::WaitHistogram() : longer_ns_(wait_bounds_ns.size()) {
  published_.cumulative_counts.resize(wait_bounds_ns.size());
}

void WaitHistogram::add(uint64_t observed_ns, Buckets finished_turns) {
  observed_ns_ += observed_ns;
  for (const OccupiedBucket& gain : finished_turns) {
    const double stretch_ns = mean_of(gain);
    const auto stretches = static_cast<double>(gain.count);
    sum_seconds_ += stretches * waits_seconds(stretch_ns);
    for (size_t i = 0; i < wait_bounds_ns.size(); ++i) {
      const double over_ns = stretch_ns - static_cast<double>(wait_bounds_ns[i]);
      if (over_ns <= 0) break;  // and so for every higher bound
      longer_ns_[i] += stretches * over_ns;
    }
  }
}

const HistogramFigures& WaitHistogram::figures(std::span<const uint64_t> in_progress_ns) {
  double sum_seconds = sum_seconds_;
  for (const uint64_t stretch_ns : in_progress_ns) {
    sum_seconds += waits_seconds(static_cast<double>(stretch_ns));
  }
  published_.count = arrivals(static_cast<double>(observed_ns_));
  published_.sum_seconds = std::max(published_.sum_seconds, sum_seconds);
  for (size_t i = 0; i < wait_bounds_ns.size(); ++i) {
    double longer_ns = longer_ns_[i];
    for (const uint64_t stretch_ns : in_progress_ns) {
      longer_ns += static_cast<double>(stretch_ns - std::min(stretch_ns, wait_bounds_ns[i]));
    }
    uint64_t& count = published_.cumulative_counts[i];
    count = std::max(count, arrivals(static_cast<double>(observed_ns_) - longer_ns));
  }
  return published_;
}

void GroupTotals::add(const LoopDelta& delta) {
  totals_ += delta.totals;
  turns_.add(delta.finished_turns);
  delays_.add(delta.finished_delays);
  waits_.add(delta.totals.active_ns + delta.totals.idle_ns, delta.finished_turns);
}

CumulativeFigures GroupTotals::figures(std::span<const uint64_t> in_progress_ns) {
  return {.totals = totals_,
          .turns = turns_.figures(),
          .delays = delays_.figures(),
          .waits = waits_.figures(in_progress_ns)};
}

}  // namespace uvtap
