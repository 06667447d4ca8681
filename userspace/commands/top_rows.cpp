// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/top_rows.h"

#include <algorithm>
#include <tuple>

#include "userspace/util/printable.h"

namespace uvtap {
namespace {

std::string name_of(const PodIdentity& identity) {
  std::string name;
  for (const auto* part :
       {&identity.namespace_, &identity.pod, &identity.container, &identity.process}) {
    if (part->empty()) continue;
    if (!name.empty()) name += '/';
    name += *part;
  }
  return printable(name);
}

auto trouble_of(const TopRow& row) {
  const double stall = row.stall_seconds > long_stall_seconds ? row.stall_seconds : 0;
  const double wait = row.figures ? row.figures->wait.p95_seconds : 0;
  const double utilization = row.figures ? row.figures->utilization : 0;
  return std::tuple(stall, wait, utilization);
}

bool more_urgent(const TopRow& a, const TopRow& b) {
  if (trouble_of(a) != trouble_of(b)) return trouble_of(a) > trouble_of(b);
  return a.name < b.name;
}

}  // namespace

std::vector<TopRow> top_rows(std::span<const ContainerMetrics> containers,
                             const std::map<RowKey, RowLoops>& loops) {
  std::vector<TopRow> rows;
  for (const ContainerMetrics& container : containers) {
    const auto add = [&](const std::optional<LoopGroupMetrics>& group, bool is_worker) {
      if (!group || group->loops == 0) return;
      const auto made_of = loops.find({container.identity, is_worker});
      rows.push_back({.name = name_of(container.identity),
                      .is_worker = is_worker,
                      .loop_count = group->loops,
                      .loops = made_of == loops.end() ? RowLoops{} : made_of->second,
                      .runtimes = container.runtimes,
                      .figures = group->window,
                      .stall_seconds = group->stall_seconds});
    };
    add(container.main, false);
    add(container.workers, true);
  }
  std::ranges::sort(rows, more_urgent);
  return rows;
}

bool is_complete(const TopView& view) {
  if (view.rows.empty()) return view.processes == 0;
  return std::ranges::all_of(view.rows, [](const TopRow& row) { return row.figures.has_value(); });
}

}  // namespace uvtap
