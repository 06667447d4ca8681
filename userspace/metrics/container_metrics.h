// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "userspace/identity/pod_identity.h"
#include "userspace/loops/loop_window.h"

namespace uvtap {

/// The interval between firings of Node's delay timer, its resolution included.
struct DelayFigures {
  double min_seconds = 0;
  double mean_seconds = 0;
  double p50_seconds = 0;
  double p90_seconds = 0;
  double p95_seconds = 0;
  double p99_seconds = 0;
  double max_seconds = 0;
};

/// How long an event that arrives at a random moment waits for the loop.
struct WaitFigures {
  double p50_seconds = 0;
  double p90_seconds = 0;
  double p95_seconds = 0;
  double p99_seconds = 0;
  double max_seconds = 0;
};

/// Where active time went, as shares of all time: they add up to the utilization.
struct ActiveShares {
  double cpu = 0;
  double runqueue = 0;
  double blocked = 0;
};

/// What several loops did together over the window.
struct WindowFigures {
  double utilization = 0;
  double utilization_max = 0;  ///< of the busiest loop
  ActiveShares active;
  double turns_per_second = 0;  ///< of all loops together
  double overhead_ratio = 0;    ///< what observing them costs, of one CPU
  WaitFigures wait;
  std::optional<DelayFigures> delay;  ///< none while the timer has not fired
};

/// A cumulative histogram; its bounds stand in bucket_bounds.h.
struct HistogramFigures {
  std::vector<uint64_t> cumulative_counts;  ///< one per bound
  uint64_t count = 0;
  double sum_seconds = 0;
};

/// What several loops did together since they were first observed. Never goes back.
struct CumulativeFigures {
  LoopTotals totals;
  HistogramFigures turns;
  HistogramFigures delays;
  HistogramFigures waits;
};

/// The main loops of a container, or its Worker loops.
struct LoopGroupMetrics {
  std::optional<WindowFigures> window;  ///< none before the first full second
  CumulativeFigures cumulative;
  double stall_seconds = 0;  ///< age of the longest busy stretch in progress
  uint64_t loops = 0;        ///< alive
  std::map<front_door, uint64_t> loops_by_door;
};

/// What a process runs on; empty where it is not known.
struct ProcessInfo {
  std::string node_version;
  std::string libuv_version;
  auto operator<=>(const ProcessInfo&) const = default;
};

/// Everything that is exposed of one container.
struct ContainerMetrics {
  PodIdentity identity;
  std::set<ProcessInfo> runtimes;  ///< of its live processes
  /// A group appears with its first loop.
  std::optional<LoopGroupMetrics> main;
  std::optional<LoopGroupMetrics> workers;
};

/// The figures of several loops from their merged windows: never an average of percentiles. A busy
/// stretch in progress counts as one more turn, an overdue timer as one more firing. Loops in their
/// first second are left out; none where nothing remains.
[[nodiscard]] std::optional<WindowFigures> window_figures(std::span<const LoopWindow* const> loops,
                                                          uint64_t now_ns);

}  // namespace uvtap
