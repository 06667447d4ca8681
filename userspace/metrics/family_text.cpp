// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/family_text.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace uvtap {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

/// What prometheus-cpp prints: a double read back from it may be off in its last bit.
constexpr int significant_digits = std::numeric_limits<double>::max_digits10 - 1;

void append_number(std::string& text, uint64_t value) {
  std::array<char, 20> digits;  // of 2^64 - 1
  const auto end = std::to_chars(digits.begin(), digits.end(), value).ptr;
  text.append(digits.begin(), end);
}

void append_number(std::string& text, double value) {
  if (std::isnan(value)) {
    text += "Nan";
  } else if (std::isinf(value)) {
    text += value < 0 ? "-Inf" : "+Inf";
  } else {
    std::array<char, 32> digits;  // sixteen, a sign, a point, an exponent of three digits
    const auto end = std::to_chars(digits.begin(), digits.end(), value, std::chars_format::general,
                                   significant_digits)
                         .ptr;
    text.append(digits.begin(), end);
  }
}

bool needs_escape(char character) {
  return character == '\\' || character == '"' || character == '\n';
}

void append_escaped(std::string& text, std::string_view value) {
  if (std::ranges::none_of(value, needs_escape)) {
    text += value;
    return;
  }
  for (const char character : value) {
    if (needs_escape(character)) text += '\\';
    text += character == '\n' ? 'n' : character;
  }
}

/// The text between the braces.
std::string labels_of(const ClientMetric& metric) {
  std::string labels;
  for (const auto& [name, value] : metric.label) {
    if (!labels.empty()) labels += ',';
    labels.append(name).append("=\"");
    append_escaped(labels, value);
    labels += '"';
  }
  return labels;
}

/// The lines of one metric, which share its labels.
class Lines {
 public:
  Lines(std::string& text, const MetricFamily& family, const ClientMetric& metric)
      : text_(&text), name_(family.name), metric_(&metric), labels_(labels_of(metric)) {}

  void add(std::string_view suffix, auto value) {
    text_->append(name_).append(suffix);
    if (!labels_.empty()) text_->append("{").append(labels_).append("}");
    add_value(value);
  }

  void add_bucket(double upper_bound, uint64_t count) {
    text_->append(name_).append("_bucket{").append(labels_);
    text_->append(labels_.empty() ? "le=\"" : ",le=\"");
    append_number(*text_, upper_bound);
    text_->append("\"}");
    add_value(count);
  }

 private:
  void add_value(auto value) {
    *text_ += ' ';
    append_number(*text_, value);
    if (metric_->timestamp_ms != 0)
      text_->append(" ").append(std::to_string(metric_->timestamp_ms));
    *text_ += '\n';
  }

  std::string* text_;
  std::string_view name_;
  const ClientMetric* metric_;
  std::string labels_;
};

void append_histogram(Lines lines, const ClientMetric::Histogram& histogram) {
  lines.add("_count", histogram.sample_count);
  lines.add("_sum", histogram.sample_sum);
  double last = 0;
  for (const auto& bucket : histogram.bucket) {
    last = bucket.upper_bound;
    lines.add_bucket(last, bucket.cumulative_count);
  }
  if (!std::isinf(last)) {
    lines.add_bucket(std::numeric_limits<double>::infinity(), histogram.sample_count);
  }
}

void append_head(std::string& text, const MetricFamily& family, std::string_view type) {
  if (!family.help.empty())
    text.append("# HELP ").append(family.name).append(" ").append(family.help).append("\n");
  text.append("# TYPE ").append(family.name).append(" ").append(type).append("\n");
}

}  // namespace

void append(std::string& text, const MetricFamily& family) {
  switch (family.type) {
    case MetricType::Counter:
      append_head(text, family, "counter");
      for (const auto& each : family.metric) Lines(text, family, each).add("", each.counter.value);
      return;
    case MetricType::Gauge:
      append_head(text, family, "gauge");
      for (const auto& each : family.metric) Lines(text, family, each).add("", each.gauge.value);
      return;
    case MetricType::Histogram:
      append_head(text, family, "histogram");
      for (const auto& each : family.metric)
        append_histogram(Lines(text, family, each), each.histogram);
      return;
    default:  // uvtap exposes none
      text += prometheus::TextSerializer().Serialize({family});
  }
}

}  // namespace uvtap
