// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/top_table.h"

#include <fmt/core.h>

#include "userspace/probes/front_door.h"
#include "userspace/util/printable.h"

namespace uvtap {
namespace {

constexpr const char* nothing = "-";

std::string percent(double share) { return fmt::format("{:.1f}%", share * 100); }

std::string counted(size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

void add_word(std::string& words, std::string_view word) {
  if (word.empty()) return;
  if (!words.empty()) words += ',';
  words += word;
}

std::string kind_of(const TopRow& row) {
  const std::string kind = row.is_worker ? "worker" : "main";
  return row.loop_count == 1 ? kind : fmt::format("{} {}", row.loop_count, kind);
}

std::string doors_of(const TopRow& row) {
  std::string doors;
  for (const front_door door : row.loops.doors) add_word(doors, to_string(door));
  return doors.empty() ? nothing : doors;
}

std::string versions_of(const TopRow& row) {
  std::string versions;
  for (const ProcessInfo& runtime : row.runtimes)
    add_word(versions, printable(runtime.node_version));
  return versions.empty() ? nothing : versions;
}

/// The cells that speak of the window.
std::vector<std::string> figure_cells(const TopRow& row) {
  if (!row.figures) return std::vector<std::string>(7, nothing);
  const WindowFigures& figures = *row.figures;
  return {percent(figures.utilization),
          short_duration(figures.wait.p95_seconds),
          figures.delay ? short_duration(figures.delay->p95_seconds) : nothing,
          percent(figures.active.cpu),
          percent(figures.active.runqueue),
          percent(figures.active.blocked),
          fmt::format("{:.0f}", figures.turns_per_second)};
}

Tint tint_of(const TopRow& row) {
  if (row.stall_seconds > long_stall_seconds) return Tint::red;
  if (row.figures && row.figures->utilization > high_utilization) return Tint::yellow;
  return Tint::none;
}

std::string first_title(Grouping grouping) {
  switch (grouping) {
    case Grouping::loop:
      return "LOOP";
    case Grouping::process:
      return "PROCESS";
    case Grouping::container:
      return "CONTAINER";
  }
  return {};
}

}  // namespace

std::string short_duration(double seconds) {
  if (seconds <= 0) return nothing;
  if (seconds < 0.1) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  return seconds < 10 ? fmt::format("{:.2f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::string top_summary(const TopView& view) {
  std::string summary = "no Node.js process is observed";
  if (view.processes > 0) {
    uint64_t loops = 0;
    for (const TopRow& row : view.rows) loops += row.loop_count;
    summary = fmt::format("{} of {}; figures over up to {} s", counted(loops, "loop", "loops"),
                          counted(view.processes, "Node.js process", "Node.js processes"),
                          view.window_ns / 1'000'000'000);
  }
  if (view.unsupported_processes > 0)
    summary += fmt::format("; {} not supported (uvtap check tells why)",
                           counted(view.unsupported_processes, "process is", "processes are"));
  return summary;
}

TextTable top_table(const TopView& view) {
  TextTable table{.columns = {{first_title(view.grouping), Align::left},
                              {"UTIL", Align::right, 6},
                              {"WAIT p95"},
                              {"DELAY p95"},
                              {"STALL", Align::right, 7},
                              {"CPU", Align::right, 6},
                              {"RUNQ", Align::right, 6},
                              {"BLOCKED"},
                              {"TURNS/s"},
                              {"KIND", Align::left},
                              {"DOOR", Align::left},
                              {"NODE", Align::left}},
                  .rows = {}};
  for (const TopRow& row : view.rows) {
    auto cells = figure_cells(row);
    cells.insert(cells.begin(), row.name);
    cells.insert(cells.begin() + 4, short_duration(row.stall_seconds));
    cells.insert(cells.end(), {kind_of(row), doors_of(row), versions_of(row)});
    table.rows.push_back({std::move(cells), tint_of(row)});
  }
  return table;
}

}  // namespace uvtap
