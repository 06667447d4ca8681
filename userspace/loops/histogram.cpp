// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/histogram.h"

#include <algorithm>
#include <cmath>
#include <ranges>

namespace uvtap {
namespace {

using Place = SparseHistogram::iterator;

double mean_of(const OccupiedBucket& bucket) {
  return static_cast<double>(bucket.sum_ns) / static_cast<double>(bucket.count);
}

/// Where a bucket stands, at `from` or behind it; put there, empty, if it was not. Steps, because
/// it is the next one as a rule.
Place place_of(SparseHistogram& histogram, Place from, uint32_t bucket) {
  const Place place =
      std::find_if(from, histogram.end(), [&](const auto& each) { return each.bucket >= bucket; });
  if (place != histogram.end() && place->bucket == bucket) return place;
  return histogram.insert(place, {.bucket = bucket});
}

}  // namespace

SparseHistogram occupied(std::span<const histogram_bucket> all) {
  SparseHistogram some;
  for (uint32_t bucket = 0; bucket < all.size(); ++bucket) {
    const auto& [count, sum_ns] = all[bucket];
    if (count != 0) some.push_back({.sum_ns = sum_ns, .count = count, .bucket = bucket});
  }
  return some;
}

void add(SparseHistogram& sums, Buckets gains) {
  Place place = sums.begin();
  for (const OccupiedBucket& gain : gains) {
    place = place_of(sums, place, gain.bucket);
    place->sum_ns += gain.sum_ns;
    place->count += gain.count;
  }
}

void subtract(SparseHistogram& sums, Buckets gains) {
  Place place = sums.begin();
  for (const OccupiedBucket& gain : gains) {
    place = place_of(sums, place, gain.bucket);
    place->sum_ns -= gain.sum_ns;
    place->count -= gain.count;
  }
  std::erase_if(sums, [](const OccupiedBucket& bucket) { return bucket.count == 0; });
}

SparseHistogram raise(SparseHistogram& totals, Buckets newer) {
  SparseHistogram gains;
  Place total = totals.begin();
  for (const OccupiedBucket& now : newer) {
    total = place_of(totals, total, now.bucket);
    if (now.count <= total->count) continue;
    const uint64_t sum_ns = std::max(now.sum_ns, total->sum_ns);
    gains.push_back({.sum_ns = sum_ns - total->sum_ns,
                     .count = now.count - total->count,
                     .bucket = now.bucket});
    *total = {.sum_ns = sum_ns, .count = now.count, .bucket = now.bucket};
  }
  gains.shrink_to_fit();
  return gains;
}

void add_value(const HistogramGeometry& geometry, SparseHistogram& histogram, uint64_t value_ns) {
  const auto bucket = static_cast<uint32_t>(geometry.bucket_of(value_ns));
  const OccupiedBucket value{.sum_ns = value_ns, .count = 1, .bucket = bucket};
  add(histogram, {&value, 1});
}

uint64_t total_count(Buckets buckets) {
  uint64_t count = 0;
  for (const OccupiedBucket& bucket : buckets) count += bucket.count;
  return count;
}

uint64_t total_ns(Buckets buckets) {
  uint64_t sum_ns = 0;
  for (const OccupiedBucket& bucket : buckets) sum_ns += bucket.sum_ns;
  return sum_ns;
}

double mean_ns(Buckets buckets) {
  const OccupiedBucket all{.sum_ns = total_ns(buckets), .count = total_count(buckets)};
  return all.count == 0 ? 0 : mean_of(all);
}

double quantile_ns(Buckets buckets, double quantile) {
  const double wanted = quantile * static_cast<double>(total_count(buckets));
  const double rank = std::max(1.0, std::floor(wanted + 0.5));
  double seen = 0;
  double value = 0;
  for (const OccupiedBucket& bucket : buckets) {
    seen += static_cast<double>(bucket.count);
    value = mean_of(bucket);
    if (seen >= rank) break;
  }
  return value;
}

// The smallest of n values with mean m is m itself or less, but not below what is left if all the
// others stood at the upper bound.
double min_ns(const HistogramGeometry& geometry, Buckets buckets) {
  if (buckets.empty()) return 0;
  const OccupiedBucket& lowest = buckets.front();
  const double mean = mean_of(lowest);
  const auto others = static_cast<double>(lowest.count - 1);
  const auto upper = static_cast<double>(geometry.upper_bound_ns(lowest.bucket));
  const double least = (mean * (others + 1)) - (others * upper);
  return (mean + std::max(least, static_cast<double>(geometry.lower_bound_ns(lowest.bucket)))) / 2;
}

// The same from above: not more than what is left if all the others stood at the lower bound.
double max_ns(const HistogramGeometry& geometry, Buckets buckets) {
  if (buckets.empty()) return 0;
  const OccupiedBucket& highest = buckets.back();
  const double mean = mean_of(highest);
  const auto others = static_cast<double>(highest.count - 1);
  const auto lower = static_cast<double>(geometry.lower_bound_ns(highest.bucket));
  const double most = (mean * (others + 1)) - (others * lower);
  return (mean + std::min(most, static_cast<double>(geometry.upper_bound_ns(highest.bucket)))) / 2;
}

double wait_quantile_ns(Buckets busy_stretches, uint64_t observed_ns, double quantile) {
  const double longer_ns = (1 - quantile) * static_cast<double>(observed_ns);
  // From the longest stretches down: as long as x stays above the next shorter ones, the time that
  // waits longer than x is sum - count * x over those already seen.
  double count = 0;
  double sum_ns = 0;
  double wait_ns = 0;
  for (const OccupiedBucket& bucket : std::views::reverse(busy_stretches)) {
    if (count > 0 && wait_ns >= mean_of(bucket)) return wait_ns;
    count += static_cast<double>(bucket.count);
    sum_ns += static_cast<double>(bucket.sum_ns);
    wait_ns = (sum_ns - longer_ns) / count;
  }
  return std::max(wait_ns, 0.0);
}

}  // namespace uvtap
