// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/family.h"

#include <cstddef>
#include <limits>

#include "userspace/metrics/family_text.h"
#include "userspace/metrics/units.h"

namespace uvtap {

using prometheus::ClientMetric;
using prometheus::MetricType;

void Families::add(const prometheus::MetricFamily& family) { append(text_, family); }

FamilyBuilder::FamilyBuilder(MetricType type, std::string name, std::string help)
    : family_{std::move(name), std::move(help), type, {}} {}

void FamilyBuilder::add(Labels labels, double value) {
  ClientMetric& metric = family_.metric.emplace_back();
  metric.label = std::move(labels);
  if (family_.type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
}

void FamilyBuilder::add(Labels labels, const HistogramFigures& figures, BucketBounds bounds_ns) {
  ClientMetric& metric = family_.metric.emplace_back();
  metric.label = std::move(labels);
  metric.histogram.sample_count = figures.count;
  metric.histogram.sample_sum = figures.sum_seconds;
  metric.histogram.bucket.reserve(bounds_ns.size() + 1);
  for (size_t i = 0; i < bounds_ns.size(); ++i) {
    metric.histogram.bucket.push_back({figures.cumulative_counts[i], seconds(bounds_ns[i])});
  }
  metric.histogram.bucket.push_back({figures.count, std::numeric_limits<double>::infinity()});
}

void FamilyBuilder::finish(Families& families) {
  if (!family_.metric.empty()) families.add(family_);
}

Labels with_label(Labels labels, std::string_view name, std::string_view value) {
  labels.push_back({std::string(name), std::string(value)});
  return labels;
}

void add_gauge(Families& families, std::string name, std::string help, double value) {
  FamilyBuilder family(MetricType::Gauge, std::move(name), std::move(help));
  family.add({}, value);
  family.finish(families);
}

void add_counter(Families& families, std::string name, std::string help, double value) {
  FamilyBuilder family(MetricType::Counter, std::move(name), std::move(help));
  family.add({}, value);
  family.finish(families);
}

}  // namespace uvtap
