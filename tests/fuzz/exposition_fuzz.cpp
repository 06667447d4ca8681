// SPDX-License-Identifier: Apache-2.0
// Names that containers, images and the API server chose, up to the text that Prometheus reads. The
// input is the names, with NUL between them.

#include <algorithm>
#include <sstream>
#include <utility>

#include "tests/fuzz/fuzz.h"
#include "userspace/metrics/exposition.h"
#include "userspace/metrics/label_value.h"

using namespace uvtap;
using fuzz::require;

namespace {

using LabelPairs = std::vector<std::pair<std::string, std::string>>;

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '_';
  });
}

/// Takes a quoted value from the front, in the way of Prometheus's text format.
std::string take_value(std::string_view& rest) {
  require(rest.starts_with('"'), "a value is quoted");
  rest.remove_prefix(1);
  std::string value;
  while (!rest.empty() && rest.front() != '"') {
    char each = rest.front();
    rest.remove_prefix(1);
    if (each == '\\') {
      require(!rest.empty() && std::string_view("\\\"n").contains(rest.front()), "an escape");
      each = rest.front() == 'n' ? '\n' : rest.front();
      rest.remove_prefix(1);
    }
    value += each;
  }
  require(!rest.empty(), "a value has an end");
  rest.remove_prefix(1);
  return value;
}

/// The labels of one sample; its name, the separators and the number are checked.
LabelPairs read_sample(std::string_view line) {
  const size_t name_end = std::min(line.find_first_of("{ "), line.size());
  require(is_name(line.substr(0, name_end)), "a sample has a name");
  line.remove_prefix(name_end);
  LabelPairs labels;
  while (line.starts_with('{') || line.starts_with(',')) {
    line.remove_prefix(1);
    const size_t equals = std::min(line.find('='), line.size() - 1);
    const std::string name(line.substr(0, equals));
    require(is_name(name), "a label has a name");
    line.remove_prefix(equals + 1);
    labels.emplace_back(name, take_value(line));
  }
  if (line.starts_with('}')) line.remove_prefix(1);
  require(line.starts_with(' '), "then a blank");
  const std::string number(line.substr(1));
  char* end = nullptr;
  std::strtod(number.c_str(), &end);
  require(!number.empty() && *end == '\0', "then a number, and nothing else");
  return labels;
}

class Names {
 public:
  explicit Names(std::string_view text) : parts_(fuzz::split(text, '\0')) {}
  std::string next() { return at_ < parts_.size() ? std::string(parts_[at_++]) : std::string(); }

 private:
  std::vector<std::string_view> parts_;
  size_t at_ = 0;
};

ContainerMetrics container_of(Names names) {
  ContainerMetrics container;
  PodIdentity& identity = container.identity;
  for (std::string* part : {&identity.namespace_, &identity.pod, &identity.container,
                            &identity.workload_kind, &identity.workload, &identity.process})
    *part = names.next();
  container.runtimes.insert({.node_version = names.next(), .libuv_version = names.next()});
  container.main.emplace().cumulative.turns = {
      .cumulative_counts = std::vector<uint64_t>(turn_bounds_ns.size()), .count = 1};
  container.main->cumulative.delays.cumulative_counts.resize(delay_bounds_ns.size());
  container.main->cumulative.waits.cumulative_counts.resize(wait_bounds_ns.size());
  return container;
}

std::string exposition_of(const ContainerMetrics& container) {
  Families families;
  add_container_families(families, {&container, 1});
  return std::move(families).take_text();
}

void check_labels(const LabelPairs& labels, const PodIdentity& identity) {
  const auto has = [&](const char* name, const std::string& text) {
    return std::ranges::find(labels, std::pair(std::string(name), label_value(text))) !=
           labels.end();
  };
  require(has("namespace", identity.namespace_) && has("pod", identity.pod) &&
              has("container", identity.container) &&
              has("workload_kind", identity.workload_kind) && has("workload", identity.workload) &&
              has("process", identity.process),
          "each sample says whose it is");
  require(labels.size() <= 8, "no label more than there are");
  for (const auto& [name, value] : labels)
    require(value.size() <= label_value_limit && fuzz::is_utf8(value), "short, and UTF-8");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto lines_of = [](const std::string& text) {
    return std::ranges::count(text, '\n');
  };
  static const auto usual = lines_of(exposition_of(container_of(Names(""))));

  const ContainerMetrics container = container_of(Names(fuzz::Input(data, size).text()));
  const std::string text = exposition_of(container);
  require(lines_of(text) == usual, "no name adds a line");
  require(fuzz::is_utf8(text) && text.ends_with('\n'), "UTF-8, whole lines");
  for (const std::string_view line : fuzz::split(text, '\n'))
    if (!line.empty() && !line.starts_with("# "))
      check_labels(read_sample(line), container.identity);
  return 0;
}
