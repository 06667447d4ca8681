// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "userspace/metrics/exposition.h"
#include "userspace/metrics/label_value.h"
#include "userspace/metrics/units.h"
#include "userspace/util/front_door_name.h"

namespace uvtap {
namespace {

using prometheus::MetricType;
using Value = std::optional<double>;

/// One of the two groups of loops, with what its series are called.
struct GroupNames {
  std::string_view prefix;
  std::string_view help_prefix;
  std::optional<LoopGroupMetrics> ContainerMetrics::* group;
};

constexpr std::array group_names{
    GroupNames{"nodejs_eventloop", "Main event loops: ", &ContainerMetrics::main},
    GroupNames{"nodejs_worker_eventloop",
               "Event loops of Worker threads: ", &ContainerMetrics::workers},
};

struct GaugeRow {
  std::string_view suffix;
  std::string_view help;
  Value (*value)(const LoopGroupMetrics& group);
};

template <double WindowFigures::* figure>
Value window_value(const LoopGroupMetrics& group) {
  return group.window ? Value((*group.window).*figure) : std::nullopt;
}

template <double WaitFigures::* figure>
Value wait_value(const LoopGroupMetrics& group) {
  return group.window ? Value(group.window->wait.*figure) : std::nullopt;
}

template <double DelayFigures::* figure>
Value delay_value(const LoopGroupMetrics& group) {
  return group.window && group.window->delay ? Value((*group.window->delay).*figure) : std::nullopt;
}

Value stall_value(const LoopGroupMetrics& group) { return group.stall_seconds; }
Value loops_value(const LoopGroupMetrics& group) { return static_cast<double>(group.loops); }

constexpr std::array gauge_rows{
    GaugeRow{"utilization", "share of time not spent waiting for events, over the window, 0 to 1.",
             window_value<&WindowFigures::utilization>},
    GaugeRow{"utilization_max", "utilization of the busiest one, 0 to 1.",
             window_value<&WindowFigures::utilization_max>},
    GaugeRow{"delay_min_seconds", "shortest interval between firings of Node's delay timer.",
             delay_value<&DelayFigures::min_seconds>},
    GaugeRow{"delay_mean_seconds", "mean interval between firings of Node's delay timer.",
             delay_value<&DelayFigures::mean_seconds>},
    GaugeRow{"delay_p50_seconds", "median interval between firings of Node's delay timer.",
             delay_value<&DelayFigures::p50_seconds>},
    GaugeRow{"delay_p90_seconds", "90th percentile of the intervals of Node's delay timer.",
             delay_value<&DelayFigures::p90_seconds>},
    GaugeRow{"delay_p95_seconds", "95th percentile of the intervals of Node's delay timer.",
             delay_value<&DelayFigures::p95_seconds>},
    GaugeRow{"delay_p99_seconds", "99th percentile of the intervals of Node's delay timer.",
             delay_value<&DelayFigures::p99_seconds>},
    GaugeRow{"delay_max_seconds", "longest interval between firings of Node's delay timer.",
             delay_value<&DelayFigures::max_seconds>},
    GaugeRow{"wait_p50_seconds", "how long an event waits for the loop, median.",
             wait_value<&WaitFigures::p50_seconds>},
    GaugeRow{"wait_p90_seconds", "how long an event waits for the loop, 90th percentile.",
             wait_value<&WaitFigures::p90_seconds>},
    GaugeRow{"wait_p95_seconds", "how long an event waits for the loop, 95th percentile.",
             wait_value<&WaitFigures::p95_seconds>},
    GaugeRow{"wait_p99_seconds", "how long an event waits for the loop, 99th percentile.",
             wait_value<&WaitFigures::p99_seconds>},
    GaugeRow{"wait_max_seconds", "how long an event waits for the loop, at most.",
             wait_value<&WaitFigures::max_seconds>},
    GaugeRow{"stall_seconds", "age of the longest busy stretch in progress; 0 when all wait.",
             stall_value},
    GaugeRow{"loops", "number observed.", loops_value},
};

Labels labels_of(const PodIdentity& identity) {
  return {{"namespace", label_value(identity.namespace_)},
          {"pod", label_value(identity.pod)},
          {"container", label_value(identity.container)},
          {"workload_kind", label_value(identity.workload_kind)},
          {"workload", label_value(identity.workload)},
          {"process", label_value(identity.process)}};
}

/// A container with its labels, made once for all its series.
struct LabelledContainer {
  const ContainerMetrics* metrics;
  Labels labels;
};
using LabelledContainers = std::vector<LabelledContainer>;

FamilyBuilder start_family(const GroupNames& names, MetricType type, std::string_view suffix,
                           std::string_view help) {
  return {type, fmt::format("{}_{}", names.prefix, suffix),
          fmt::format("{}{}", names.help_prefix, help)};
}

void add_gauge_row(Families& families, const GroupNames& names, const GaugeRow& row,
                   const LabelledContainers& containers) {
  FamilyBuilder family = start_family(names, MetricType::Gauge, row.suffix, row.help);
  for (const auto& [metrics, labels] : containers) {
    const auto& group = metrics->*names.group;
    if (!group) continue;
    if (const Value value = row.value(*group)) family.add(labels, *value);
  }
  family.finish(families);
}

/// A counter that is split by one label: total by total.
struct CounterPart {
  std::string_view label_value;
  uint64_t LoopTotals::* total_ns;
};

void add_split_counter(Families& families, const GroupNames& names, std::string_view suffix,
                       std::string_view help, std::string_view label,
                       std::span<const CounterPart> parts, const LabelledContainers& containers) {
  FamilyBuilder family = start_family(names, MetricType::Counter, suffix, help);
  for (const auto& [metrics, labels] : containers) {
    const auto& group = metrics->*names.group;
    if (!group) continue;
    for (const CounterPart& part : parts) {
      family.add(with_label(labels, label, part.label_value),
                 seconds(group->cumulative.totals.*part.total_ns));
    }
  }
  family.finish(families);
}

void add_counters(Families& families, const GroupNames& names,
                  const LabelledContainers& containers) {
  constexpr std::array states{CounterPart{"active", &LoopTotals::active_ns},
                              CounterPart{"idle", &LoopTotals::idle_ns}};
  constexpr std::array causes{CounterPart{"cpu", &LoopTotals::cpu_ns},
                              CounterPart{"runqueue", &LoopTotals::runqueue_ns},
                              CounterPart{"blocked", &LoopTotals::blocked_ns}};
  add_split_counter(families, names, "time_seconds_total", "time spent active and idle.",
                    "nodejs_eventloop_state", states, containers);
  add_split_counter(families, names, "active_seconds_total",
                    "active time by cause: running on a CPU, ready to run but waiting for one, or "
                    "blocked in a system call.",
                    "cause", causes, containers);

  FamilyBuilder turns =
      start_family(names, MetricType::Counter, "turns_total", "turns (iterations) made.");
  for (const auto& [metrics, labels] : containers) {
    const auto& group = metrics->*names.group;
    if (group) turns.add(labels, static_cast<double>(group->cumulative.totals.turns));
  }
  turns.finish(families);
}

struct HistogramRow {
  std::string_view suffix;
  std::string_view help;
  HistogramFigures CumulativeFigures::* figures;
  BucketBounds bounds_ns;
};

constexpr std::array histogram_rows{
    HistogramRow{"delay_seconds", "intervals between firings of Node's delay timer.",
                 &CumulativeFigures::delays, delay_bounds_ns},
    HistogramRow{"wait_seconds",
                 "how long events arriving at random moments, one per millisecond, wait.",
                 &CumulativeFigures::waits, wait_bounds_ns},
    HistogramRow{"turn_seconds", "busy stretches, one per turn.", &CumulativeFigures::turns,
                 turn_bounds_ns},
};

void add_histogram_row(Families& families, const GroupNames& names, const HistogramRow& row,
                       const LabelledContainers& containers) {
  FamilyBuilder family = start_family(names, MetricType::Histogram, row.suffix, row.help);
  for (const auto& [metrics, labels] : containers) {
    const auto& group = metrics->*names.group;
    if (group) family.add(labels, group->cumulative.*row.figures, row.bounds_ns);
  }
  family.finish(families);
}

/// What observing costs a container, and how its loops are observed.
void add_observation(Families& families, const LabelledContainers& containers) {
  FamilyBuilder overhead(MetricType::Gauge, "uvtap_overhead_ratio",
                         "What being observed costs the container's loops, of one CPU, over the "
                         "window: hits times what a hit costs on this machine.");
  FamilyBuilder loops(MetricType::Gauge, "uvtap_loops",
                      "Loops by the front door they are observed through; through memory, "
                      "percentiles are sampled.");
  for (const auto& [metrics, labels] : containers) {
    Value ratio;
    std::map<front_door, uint64_t> by_door;
    for (const auto* group : {&metrics->main, &metrics->workers}) {
      if (!*group) continue;
      if ((*group)->window) ratio = ratio.value_or(0) + (*group)->window->overhead_ratio;
      for (const auto& [door, count] : (*group)->loops_by_door) by_door[door] += count;
    }
    if (ratio) overhead.add(labels, *ratio);
    for (const auto& [door, count] : by_door)
      loops.add(with_label(labels, "front_door", to_string(door)), static_cast<double>(count));
  }
  overhead.finish(families);
  loops.finish(families);
}

void add_runtime_info(Families& families, const LabelledContainers& containers) {
  FamilyBuilder family(MetricType::Gauge, "nodejs_runtime_info",
                       "What runs there: the versions of Node.js and of its libuv.");
  for (const auto& [metrics, labels] : containers) {
    for (const ProcessInfo& runtime : metrics->runtimes) {
      family.add(with_label(with_label(labels, "node_version", label_value(runtime.node_version)),
                            "libuv_version", label_value(runtime.libuv_version)),
                 1);
    }
  }
  family.finish(families);
}

}  // namespace

void add_container_families(Families& families, std::span<const ContainerMetrics> containers) {
  LabelledContainers labelled;
  labelled.reserve(containers.size());
  for (const ContainerMetrics& container : containers) {
    labelled.push_back({&container, labels_of(container.identity)});
  }
  for (const GroupNames& names : group_names) {
    for (const GaugeRow& row : gauge_rows) add_gauge_row(families, names, row, labelled);
    add_counters(families, names, labelled);
    for (const HistogramRow& row : histogram_rows) {
      add_histogram_row(families, names, row, labelled);
    }
  }
  add_observation(families, labelled);
  add_runtime_info(families, labelled);
}

}  // namespace uvtap
