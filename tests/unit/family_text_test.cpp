// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/family_text.h"

#include <prometheus/text_serializer.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace uvtap {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Limits = std::numeric_limits<double>;

void check_same(const std::vector<MetricFamily>& families) {
  std::string ours;
  for (const MetricFamily& family : families) append(ours, family);
  CHECK(ours == prometheus::TextSerializer().Serialize(families));
}

ClientMetric labelled(const std::vector<std::string>& values) {
  ClientMetric metric;
  for (const std::string& value : values)
    metric.label.push_back({"label_" + std::to_string(metric.label.size()), value});
  return metric;
}

MetricFamily family_of(MetricType type, const std::vector<double>& values) {
  MetricFamily family{"some_name", "What it means.", type, {}};
  for (const double value : values) {
    ClientMetric metric = labelled({"x"});
    metric.gauge.value = value;
    metric.counter.value = value;
    family.metric.push_back(metric);
  }
  return family;
}

ClientMetric with_buckets(ClientMetric metric, const std::vector<double>& bounds) {
  uint64_t count = 0;
  for (const double bound : bounds) metric.histogram.bucket.push_back({count += 7, bound});
  metric.histogram.sample_count = count + 1;
  metric.histogram.sample_sum = 0.1 + 0.2;
  return metric;
}

TEST_CASE("special values are printed as prometheus-cpp prints them") {
  const std::vector nothing_finite{Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity(),
                                   -Limits::infinity()};
  const std::vector extremes{0.0,
                             -0.0,
                             Limits::min(),
                             Limits::denorm_min(),
                             Limits::max(),
                             Limits::lowest(),
                             Limits::epsilon()};
  // Where the notation changes, and where sixteen digits are one too few.
  const std::vector edges{1.0,
                          -1.0,
                          0.1,
                          1.0 / 3,
                          2.0 / 3,
                          1e-4,
                          1e-5,
                          99999.5,
                          1e15,
                          1e16,
                          1e17,
                          9007199254740992.0,
                          123456789012345680.0,
                          0.30000000000000004};
  for (const auto& values : {nothing_finite, extremes, edges})
    check_same({family_of(MetricType::Gauge, values)});
}

TEST_CASE("values of every size are printed as prometheus-cpp prints them") {
  std::mt19937_64 random(5);
  std::vector<double> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(std::bit_cast<double>(random()));                         // of any exponent
    values.push_back(static_cast<double>(random() >> (random() % 64)));        // counts
    values.push_back(static_cast<double>(random() >> (random() % 64)) / 1e9);  // seconds
  }
  check_same({family_of(MetricType::Gauge, values), family_of(MetricType::Counter, values)});
}

TEST_CASE("labels are escaped as prometheus-cpp escapes them") {
  MetricFamily family{"some_name", "", MetricType::Counter, {}};
  family.metric = {labelled({}), labelled({""}), labelled({R"(a"b\c)", "line\nfeed", "\\", "\""}),
                   labelled({"déjà vu …", std::string("nul\0byte", 8), "\xff\xfe", "\t\r"}),
                   labelled({std::string(5'000, '"'), std::string(5'000, 'x')})};
  check_same({family});
}

TEST_CASE("histograms are printed as prometheus-cpp prints them") {
  MetricFamily family{"some_seconds", "How long.", MetricType::Histogram, {}};
  family.metric = {with_buckets(labelled({}), {0.1, 0.5}),  // +Inf is added
                   with_buckets(labelled({"a", "b\n"}), {0.005, 1, 1e9, Limits::infinity()}),
                   with_buckets(labelled({"none"}), {}),
                   with_buckets(labelled({"negative"}), {-Limits::infinity(), -1, 0})};
  family.metric[0].histogram.sample_count = std::numeric_limits<uint64_t>::max();
  family.metric[1].histogram.sample_sum = Limits::quiet_NaN();
  check_same({family});
}

TEST_CASE("timestamps, help that is missing or odd, families without metrics") {
  MetricFamily family = family_of(MetricType::Gauge, {1, 2});
  family.metric[0].timestamp_ms = 1'234'567'890'123;
  family.metric[1].timestamp_ms = -5;
  family.help = "a \\ and a\nline feed";
  check_same(
      {family, {"empty", "", MetricType::Gauge, {}}, {"other", "x", MetricType::Counter, {}}});
  check_same({});
}

TEST_CASE("types that uvtap does not expose are printed as well") {
  MetricFamily summary{"some_summary", "s", MetricType::Summary, {labelled({"a"})}};
  summary.metric[0].summary.quantile = {{0.5, 1.5}, {0.99, 2.5}};
  check_same({summary, family_of(MetricType::Untyped, {1}), family_of(MetricType::Gauge, {2})});
}

}  // namespace
}  // namespace uvtap
