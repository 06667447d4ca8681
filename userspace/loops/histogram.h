// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/types.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bpf/loop_contract.h"

namespace uvtap {

/// Which values a bucket of a log-linear histogram holds: the inverse of how the BPF side picks the
/// bucket of a value (loop_contract.h describes the cuts).
struct HistogramGeometry {
  uint32_t min_shift;  ///< values below 2^min_shift share the first bucket
  uint32_t sub_bits;   ///< each power of two is cut into 2^sub_bits buckets

  [[nodiscard]] constexpr size_t buckets() const {
    return ((size_t{HISTOGRAM_MAX_SHIFT} - min_shift) << sub_bits) + 2;
  }

  /// The bucket that a value is counted in.
  [[nodiscard]] constexpr size_t bucket_of(uint64_t value_ns) const {
    if (value_ns >> min_shift == 0) return 0;
    if (value_ns >> HISTOGRAM_MAX_SHIFT != 0) return buckets() - 1;
    const auto octave = static_cast<uint32_t>(std::bit_width(value_ns)) - 1;
    const uint64_t cut = (value_ns >> (octave - sub_bits)) & ((uint64_t{1} << sub_bits) - 1);
    return 1 + (size_t{octave - min_shift} << sub_bits) + cut;
  }

  /// The smallest value of a bucket.
  [[nodiscard]] constexpr uint64_t lower_bound_ns(size_t bucket) const {
    if (bucket == 0) return 0;
    const uint64_t cuts = uint64_t{1} << sub_bits;
    const size_t octave = min_shift + ((bucket - 1) >> sub_bits);
    return (cuts + ((bucket - 1) & (cuts - 1))) << (octave - sub_bits);
  }

  /// The smallest value above a bucket; the last one has no bound.
  [[nodiscard]] constexpr uint64_t upper_bound_ns(size_t bucket) const {
    if (bucket + 1 >= buckets()) return std::numeric_limits<uint64_t>::max();
    return lower_bound_ns(bucket + 1);
  }
};

inline constexpr HistogramGeometry turn_geometry{TURN_MIN_SHIFT, TURN_SUB_BITS};
inline constexpr HistogramGeometry delay_geometry{DELAY_MIN_SHIFT, DELAY_SUB_BITS};
static_assert(turn_geometry.buckets() == TURN_BUCKETS);
static_assert(delay_geometry.buckets() == DELAY_BUCKETS);

/// The values that one bucket holds.
struct OccupiedBucket {
  uint64_t sum_ns = 0;
  uint64_t count = 0;
  uint32_t bucket = 0;
};

/// The buckets that hold something, in order. A loop fills some tens of its 852 buckets, so keeping
/// only those takes a tenth of the memory and of the time to go through them.
using SparseHistogram = std::vector<OccupiedBucket>;
using Buckets = std::span<const OccupiedBucket>;

/// What a histogram as BPF writes it holds.
[[nodiscard]] SparseHistogram occupied(std::span<const histogram_bucket> all);

void add(SparseHistogram& sums, Buckets gains);
/// Takes away what was added before.
void subtract(SparseHistogram& sums, Buckets gains);
/// Raises each bucket to a newer value and returns what it gained; one that went back changes
/// nothing.
[[nodiscard]] SparseHistogram raise(SparseHistogram& totals, Buckets newer);
/// Counts one more value.
void add_value(const HistogramGeometry& geometry, SparseHistogram& histogram, uint64_t value_ns);

[[nodiscard]] uint64_t total_count(Buckets buckets);
[[nodiscard]] uint64_t total_ns(Buckets buckets);

/// Figures of the values themselves; 0 for an empty histogram. A bucket's values are taken to be
/// its own mean, which the sum makes exact.
[[nodiscard]] double mean_ns(Buckets buckets);
/// The value whose rank is nearest to the share `quantile` of all, as HdrHistogram has it, which
/// Node reports from.
[[nodiscard]] double quantile_ns(Buckets buckets, double quantile);
/// Exact for an outermost bucket of one value, else the middle of where it can be.
[[nodiscard]] double min_ns(const HistogramGeometry& geometry, Buckets buckets);
[[nodiscard]] double max_ns(const HistogramGeometry& geometry, Buckets buckets);

/// How long an event that arrives at a random moment waits until the loop turns to it. An arrival
/// within a busy stretch of length B waits for the rest of it, any other one not at all; so the
/// share that waits longer than x is sum(max(0, B - x)) / observed_ns, and this is the x at which
/// that share is 1 - quantile: 0 where the loop is busy for no more than that.
[[nodiscard]] double wait_quantile_ns(Buckets busy_stretches, uint64_t observed_ns,
                                      double quantile);

}  // namespace uvtap
