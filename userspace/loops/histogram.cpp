// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/histogram.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ranges>

namespace uvtap {
namespace {

double mean_of(const histogram_bucket& bucket) {
  return static_cast<double>(bucket.sum_ns) / static_cast<double>(bucket.count);
}

bool holds_values(const histogram_bucket& bucket) { return bucket.count != 0; }

}  // namespace

void add_value(const HistogramGeometry& geometry, std::span<histogram_bucket> buckets,
               uint64_t value_ns) {
  histogram_bucket& bucket = buckets[geometry.bucket_of(value_ns)];
  bucket.count += 1;
  bucket.sum_ns += value_ns;
}

uint64_t total_count(Buckets buckets) {
  uint64_t count = 0;
  for (const histogram_bucket& bucket : buckets) count += bucket.count;
  return count;
}

double mean_ns(Buckets buckets) {
  histogram_bucket all{};
  for (const histogram_bucket& bucket : buckets) {
    all.count += bucket.count;
    all.sum_ns += bucket.sum_ns;
  }
  return all.count == 0 ? 0 : mean_of(all);
}

double quantile_ns(Buckets buckets, double quantile) {
  const double wanted = quantile * static_cast<double>(total_count(buckets));
  const double rank = std::max(1.0, std::floor(wanted + 0.5));
  double seen = 0;
  double value = 0;
  for (const histogram_bucket& bucket : buckets) {
    if (!holds_values(bucket)) continue;
    seen += static_cast<double>(bucket.count);
    value = mean_of(bucket);
    if (seen >= rank) break;
  }
  return value;
}

// The smallest of n values with mean m is m itself or less, but not below what is left if all the
// others stood at the upper bound.
double min_ns(const HistogramGeometry& geometry, Buckets buckets) {
  const auto bucket = std::ranges::find_if(buckets, holds_values);
  if (bucket == buckets.end()) return 0;
  const auto index = static_cast<size_t>(std::distance(buckets.begin(), bucket));
  const double mean = mean_of(*bucket);
  const auto others = static_cast<double>(bucket->count - 1);
  const auto upper = static_cast<double>(geometry.upper_bound_ns(index));
  const double least = (mean * (others + 1)) - (others * upper);
  return (mean + std::max(least, static_cast<double>(geometry.lower_bound_ns(index)))) / 2;
}

// The same from above: not more than what is left if all the others stood at the lower bound.
double max_ns(const HistogramGeometry& geometry, Buckets buckets) {
  const auto bucket = std::find_if(buckets.rbegin(), buckets.rend(), holds_values);
  if (bucket == buckets.rend()) return 0;
  const auto index = static_cast<size_t>(std::distance(bucket, buckets.rend())) - 1;
  const double mean = mean_of(*bucket);
  const auto others = static_cast<double>(bucket->count - 1);
  const auto lower = static_cast<double>(geometry.lower_bound_ns(index));
  const double most = (mean * (others + 1)) - (others * lower);
  return (mean + std::min(most, static_cast<double>(geometry.upper_bound_ns(index)))) / 2;
}

double wait_quantile_ns(Buckets busy_stretches, uint64_t observed_ns, double quantile) {
  const double longer_ns = (1 - quantile) * static_cast<double>(observed_ns);
  // From the longest stretches down: as long as x stays above the next shorter ones, the time that
  // waits longer than x is sum - count * x over those already seen.
  double count = 0;
  double sum_ns = 0;
  double wait_ns = 0;
  for (const histogram_bucket& bucket : std::views::reverse(busy_stretches)) {
    if (!holds_values(bucket)) continue;
    if (count > 0 && wait_ns >= mean_of(bucket)) return wait_ns;
    count += static_cast<double>(bucket.count);
    sum_ns += static_cast<double>(bucket.sum_ns);
    wait_ns = (sum_ns - longer_ns) / count;
  }
  return std::max(wait_ns, 0.0);
}

}  // namespace uvtap
