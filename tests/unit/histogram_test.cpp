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

SparseHistogram delays_of(const std::vector<uint64_t>& values) {
  SparseHistogram histogram;
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

/// The contents, dense: what a sparse histogram is to agree with.
std::vector<histogram_bucket> dense(const SparseHistogram& histogram) {
  std::vector<histogram_bucket> all(DELAY_BUCKETS);
  for (const OccupiedBucket& each : histogram) all[each.bucket] = {each.count, each.sum_ns};
  return all;
}

bool is_well_formed(const SparseHistogram& histogram) {
  const auto is_empty = [](const OccupiedBucket& each) { return each.count == 0; };
  return std::ranges::is_sorted(histogram, std::ranges::less_equal{}, &OccupiedBucket::bucket) &&
         std::ranges::none_of(histogram, is_empty);
}

bool same(const SparseHistogram& a, const SparseHistogram& b) {
  return std::ranges::equal(a, b, [](const OccupiedBucket& left, const OccupiedBucket& right) {
    return left.bucket == right.bucket && left.count == right.count && left.sum_ns == right.sum_ns;
  });
}

TEST_CASE("occupied buckets are those that hold something, as they are") {
  const auto histogram = delays_of({5, 20'000'000, 20'000'001, 99'000'000'000});
  CHECK(histogram.size() == 3);
  CHECK(is_well_formed(histogram));
  CHECK(same(occupied(dense(histogram)), histogram));
  CHECK(occupied(dense({})).empty());
}

TEST_CASE("what was added in pieces can be taken away in pieces, and totals tell the gains") {
  std::mt19937_64 random(6);
  SparseHistogram totals;
  SparseHistogram sums;
  SparseHistogram newest;
  std::vector<SparseHistogram> pieces;
  for (int i = 0; i < 200; ++i) {
    SparseHistogram piece;
    for (uint64_t values = random() % 5; values > 0; --values)
      add_value(delay_geometry, piece, random() >> (24 + random() % 40));
    add(newest, piece);
    CHECK(same(raise(totals, newest), piece));
    CHECK(same(totals, newest));
    pieces.push_back(piece);
    add(sums, piece);
    if (pieces.size() > 15) subtract(sums, pieces[pieces.size() - 16]);
    CHECK(is_well_formed(sums));
    SparseHistogram last_fifteen;
    for (size_t j = pieces.size() - std::min<size_t>(pieces.size(), 15); j < pieces.size(); ++j)
      add(last_fifteen, pieces[j]);
    REQUIRE(same(sums, last_fifteen));
  }
}

TEST_CASE("a bucket that went back gains nothing until it is beyond where it was") {
  auto totals = delays_of({20'000'000, 20'000'000});
  CHECK(raise(totals, delays_of({20'000'000})).empty());
  CHECK(raise(totals, {}).empty());
  CHECK(total_count(totals) == 2);
  const auto gains = raise(totals, delays_of({20'000'000, 20'000'000, 20'000'000}));
  CHECK(total_count(gains) == 1);
  CHECK(total_ns(gains) == 20'000'000);
}

TEST_CASE("an empty histogram has figures of 0") {
  const SparseHistogram empty;
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
