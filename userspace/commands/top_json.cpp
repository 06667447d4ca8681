// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/top_json.h"

#include <nlohmann/json.hpp>

#include "userspace/metrics/units.h"
#include "userspace/probes/front_door.h"
#include "userspace/util/printable.h"

namespace uvtap {
namespace {

using nlohmann::ordered_json;

std::string_view name_of(Grouping grouping) {
  switch (grouping) {
    case Grouping::loop:
      return "loop";
    case Grouping::process:
      return "process";
    case Grouping::container:
      return "container";
  }
  return "";
}

/// The one element, or null where there are several.
ordered_json only(const std::set<pid_t>& numbers) {
  if (numbers.size() != 1) return nullptr;
  return *numbers.begin();
}

ordered_json value_if(bool known, double value) {
  if (!known) return nullptr;
  return value;
}

void add_figures(ordered_json& object, const TopRow& row) {
  const bool known = row.figures.has_value();
  const WindowFigures figures = row.figures.value_or(WindowFigures{});
  object["utilization"] = value_if(known, figures.utilization);
  object["utilization_max"] = value_if(known, figures.utilization_max);
  object["cpu_share"] = value_if(known, figures.active.cpu);
  object["runqueue_share"] = value_if(known, figures.active.runqueue);
  object["blocked_share"] = value_if(known, figures.active.blocked);
  object["turns_per_second"] = value_if(known, figures.turns_per_second);
  object["wait_p50_seconds"] = value_if(known, figures.wait.p50_seconds);
  object["wait_p95_seconds"] = value_if(known, figures.wait.p95_seconds);
  object["wait_p99_seconds"] = value_if(known, figures.wait.p99_seconds);
  object["wait_max_seconds"] = value_if(known, figures.wait.max_seconds);
  const bool fired = figures.delay.has_value();
  const DelayFigures delay = figures.delay.value_or(DelayFigures{});
  object["delay_p50_seconds"] = value_if(fired, delay.p50_seconds);
  object["delay_p95_seconds"] = value_if(fired, delay.p95_seconds);
  object["delay_p99_seconds"] = value_if(fired, delay.p99_seconds);
  object["delay_max_seconds"] = value_if(fired, delay.max_seconds);
}

ordered_json row_json(const TopRow& row) {
  ordered_json object;
  object["name"] = row.name;
  object["kind"] = row.is_worker ? "worker" : "main";
  object["loops"] = row.loop_count;
  object["pid"] = only(row.loops.pids);
  object["tid"] = only(row.loops.tids);
  object["front_doors"] = ordered_json::array();
  for (const front_door door : row.loops.doors) object["front_doors"].push_back(to_string(door));
  object["node_versions"] = ordered_json::array();
  for (const ProcessInfo& runtime : row.runtimes)
    object["node_versions"].push_back(printable(runtime.node_version));
  object["stall_seconds"] = row.stall_seconds;
  add_figures(object, row);
  return object;
}

}  // namespace

std::string top_json(const TopView& view) {
  ordered_json document;
  document["unix_seconds"] = view.unix_seconds;
  document["by"] = name_of(view.grouping);
  document["window_seconds"] = seconds(view.window_ns);
  document["processes"] = view.processes;
  document["unsupported_processes"] = view.unsupported_processes;
  document["rows"] = ordered_json::array();
  for (const TopRow& row : view.rows) document["rows"].push_back(row_json(row));
  return document.dump();
}

}  // namespace uvtap
