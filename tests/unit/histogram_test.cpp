// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/histogram.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "userspace/loops/loop_snapshot.h"

namespace uvtap {
namespace {

/// How the BPF side picks a bucket, written down once more from the contract's words.
size_t bucket_by_contract(const HistogramGeometry& geometry, uint64_t value) {
  if (value < (uint64_t{1} << geometry.min_shift)) return 0;
  if (value >= (uint64_t{1} << HISTOGRAM_MAX_SHIFT)) return geometry.buckets() - 1;
  uint32_t octave = 0;
  while ((value >> octave) > 1) ++octave;
  const uint64_t cut = (value >> (octave - geometry.sub_bits)) & ((1U << geometry.sub_bits) - 1);
  return 1 + ((octave - geometry.min_shift) << geometry.sub_bits) + cut;
}

const HistogramGeometry geometries[] = {turn_geometry, delay_geometry};

DelayHistogram delays_of(const std::vector<uint64_t>& values) {
  DelayHistogram histogram{};
  for (const uint64_t value : values) add_value(delay_geometry, histogram, value);
  return histogram;
}

TEST_CASE("bounds are the exact inverse of how a bucket is picked") {
  for (const auto& geometry : geometries) {
    for (size_t bucket = 0; bucket < geometry.buckets(); ++bucket) {
      CHECK(bucket_by_contract(geometry, geometry.lower_bound_ns(bucket)) == bucket);
      CHECK(bucket_by_contract(geometry, geometry.upper_bound_ns(bucket) - 1) == bucket);
    }
  }
}

TEST_CASE("the buckets leave no gap and do not overlap") {
  for (const auto& geometry : geometries) {
    for (size_t bucket = 1; bucket < geometry.buckets(); ++bucket) {
      CHECK(geometry.lower_bound_ns(bucket) == geometry.upper_bound_ns(bucket - 1));
    }
    CHECK(geometry.lower_bound_ns(1) == uint64_t{1} << geometry.min_shift);
    CHECK(geometry.lower_bound_ns(geometry.buckets() - 1) == uint64_t{1} << HISTOGRAM_MAX_SHIFT);
  }
}

TEST_CASE("bucket_of agrees with the contract on random values of every size") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t value = random() >> (random() % 64);
    for (const auto& geometry : geometries) {
      REQUIRE(geometry.bucket_of(value) == bucket_by_contract(geometry, value));
    }
  }
}

TEST_CASE("an empty histogram has figures of 0") {
  const DelayHistogram empty{};
  CHECK(quantile_ns(empty, 0.5) == 0);
  CHECK(mean_ns(empty) == 0);
  CHECK(min_ns(delay_geometry, empty) == 0);
  CHECK(max_ns(delay_geometry, empty) == 0);
}

TEST_CASE("one value is every figure, exactly") {
  const uint64_t value = GENERATE(as<uint64_t>{}, 5, 20'123'457, 68'719'476'736, 99'000'000'000);
  const auto histogram = delays_of({value});
  const auto exact = static_cast<double>(value);
  CHECK(quantile_ns(histogram, 0.01) == exact);
  CHECK(quantile_ns(histogram, 0.99) == exact);
  CHECK(mean_ns(histogram) == exact);
  CHECK(min_ns(delay_geometry, histogram) == exact);
  CHECK(max_ns(delay_geometry, histogram) == exact);
}

TEST_CASE("quantiles go by nearest rank") {
  std::vector<uint64_t> values(19, 20'000'000);
  values.push_back(500'000'000);
  const auto histogram = delays_of(values);
  CHECK(quantile_ns(histogram, 0.95) == 20'000'000);   // rank 19 of 20
  CHECK(quantile_ns(histogram, 0.97) == 20'000'000);   // rank 19.4
  CHECK(quantile_ns(histogram, 0.98) == 500'000'000);  // rank 19.6
  CHECK(quantile_ns(histogram, 0.5) == 20'000'000);
}

TEST_CASE("figures of random values stay within half a bucket of the truth") {
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> spread(17, 1);
  std::vector<uint64_t> values;
  for (int i = 0; i < 5'000; ++i)
    values.push_back(static_cast<uint64_t>(spread(random)) + 1'100'000);
  const auto histogram = delays_of(values);
  std::ranges::sort(values);
  for (const double q : {0.01, 0.5, 0.9, 0.95, 0.99}) {
    const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(values.size())));
    CHECK(quantile_ns(histogram, q) ==
          Approx(static_cast<double>(values[rank - 1])).epsilon(1.0 / 32));
  }
  CHECK(min_ns(delay_geometry, histogram) ==
        Approx(static_cast<double>(values.front())).epsilon(1.0 / 32));
  CHECK(max_ns(delay_geometry, histogram) ==
        Approx(static_cast<double>(values.back())).epsilon(1.0 / 32));
}

TEST_CASE(
    "the maximum of several values in one bucket lies between their mean and the most it can be") {
  // 64.0 and 65.0 ms share a bucket that begins at 62.9: if one stood there, the other is 66.09.
  const auto histogram = delays_of({64'000'000, 65'000'000});
  REQUIRE(delay_geometry.bucket_of(64'000'000) == delay_geometry.bucket_of(64'900'000));
  const double max = max_ns(delay_geometry, delays_of({64'000'000, 64'900'000}));
  CHECK(max > 64'450'000);
  CHECK(max <= 65'100'000);
  CHECK(max_ns(delay_geometry, histogram) >= 64'500'000);
}

}  // namespace
}  // namespace uvtap
