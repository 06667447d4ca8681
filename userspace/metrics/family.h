// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/metric_family.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "userspace/metrics/bucket_bounds.h"
#include "userspace/metrics/container_metrics.h"

namespace uvtap {

/// Metric families as text, one after the other. Only one of them is there in full at a time: all
/// together they would take several times the memory of their text.
class Families {
 public:
  /// `expected_bytes`: about how long the text will be.
  explicit Families(size_t expected_bytes = 0) { text_.reserve(expected_bytes); }

  void add(const prometheus::MetricFamily& family);
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string take_text() && { return std::move(text_); }

 private:
  std::string text_;
};

using Labels = std::vector<prometheus::ClientMetric::Label>;

/// Builds one metric family: its name, what it means, and a sample per set of labels.
class FamilyBuilder {
 public:
  FamilyBuilder(prometheus::MetricType type, std::string name, std::string help);

  /// The value of a gauge or counter, as the family's type says.
  void add(Labels labels, double value);
  void add(Labels labels, const HistogramFigures& figures, BucketBounds bounds_ns);

  /// Prints the family; one without a sample is left out.
  void finish(Families& families);

 private:
  prometheus::MetricFamily family_;
};

/// The same labels and one more.
[[nodiscard]] Labels with_label(Labels labels, std::string_view name, std::string_view value);

/// Families of one sample without labels.
void add_gauge(Families& families, std::string name, std::string help, double value);
void add_counter(Families& families, std::string name, std::string help, double value);

}  // namespace uvtap
