// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/container_metrics.h"

#include <algorithm>

#include "userspace/loops/histogram.h"
#include "userspace/metrics/units.h"

namespace uvtap {
namespace {

struct MergedWindows {
  LoopTotals totals;
  uint64_t observed_ns = 0;
  double utilization_max = 0;
  double turns_per_second = 0;
  double overhead_ratio = 0;
  SparseHistogram turns;
  SparseHistogram delays;
};

/// The share of all time, active and idle.
double share(uint64_t part_ns, const LoopTotals& totals) {
  const uint64_t all_ns = totals.active_ns + totals.idle_ns;
  return all_ns == 0 ? 0 : static_cast<double>(part_ns) / static_cast<double>(all_ns);
}

double turns_per_second(const LoopTotals& totals) {
  const double all_seconds = seconds(totals.active_ns + totals.idle_ns);
  return all_seconds == 0 ? 0 : static_cast<double>(totals.turns) / all_seconds;
}

void merge(MergedWindows& merged, const LoopWindow& window) {
  const WindowSums& sums = window.sums();
  merged.totals += sums.totals;
  merged.observed_ns += window.observed_ns();
  merged.utilization_max =
      std::max(merged.utilization_max, share(sums.totals.active_ns, sums.totals));
  merged.turns_per_second += turns_per_second(sums.totals);
  merged.overhead_ratio += share(sums.totals.overhead_ns, sums.totals);
  add(merged.turns, sums.turn_histogram);
  add(merged.delays, sums.delay_histogram);
  if (window.stall_ns() != 0) add_value(turn_geometry, merged.turns, window.stall_ns());
  if (window.overdue_delay_ns() != 0) {
    add_value(delay_geometry, merged.delays, window.overdue_delay_ns());
  }
}

WaitFigures wait_figures(Buckets turns, uint64_t observed_ns) {
  const auto quantile = [&](double q) { return seconds(wait_quantile_ns(turns, observed_ns, q)); };
  return {.p50_seconds = quantile(0.50),
          .p90_seconds = quantile(0.90),
          .p95_seconds = quantile(0.95),
          .p99_seconds = quantile(0.99),
          .max_seconds = seconds(max_ns(turn_geometry, turns))};
}

std::optional<DelayFigures> delay_figures(Buckets delays) {
  if (delays.empty()) return std::nullopt;
  const auto quantile = [&](double q) { return seconds(quantile_ns(delays, q)); };
  return DelayFigures{.min_seconds = seconds(min_ns(delay_geometry, delays)),
                      .mean_seconds = seconds(mean_ns(delays)),
                      .p50_seconds = quantile(0.50),
                      .p90_seconds = quantile(0.90),
                      .p95_seconds = quantile(0.95),
                      .p99_seconds = quantile(0.99),
                      .max_seconds = seconds(max_ns(delay_geometry, delays))};
}

}  // namespace

std::optional<WindowFigures> window_figures(std::span<const LoopWindow* const> loops,
                                            uint64_t now_ns) {
  MergedWindows merged;
  for (const LoopWindow* loop : loops) {
    if (loop->covers_one_second(now_ns)) merge(merged, *loop);
  }
  const LoopTotals& totals = merged.totals;
  if (totals.active_ns + totals.idle_ns == 0) return std::nullopt;
  return WindowFigures{.utilization = share(totals.active_ns, totals),
                       .utilization_max = merged.utilization_max,
                       .active = {.cpu = share(totals.cpu_ns, totals),
                                  .runqueue = share(totals.runqueue_ns, totals),
                                  .blocked = share(totals.blocked_ns, totals)},
                       .turns_per_second = merged.turns_per_second,
                       .overhead_ratio = merged.overhead_ratio,
                       .wait = wait_figures(merged.turns, merged.observed_ns),
                       .delay = delay_figures(merged.delays)};
}

}  // namespace uvtap
