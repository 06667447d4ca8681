// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/types.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bpf/loop_contract.h"
#include "userspace/config.h"
#include "userspace/metrics/container_metrics.h"

namespace uvtap {

/// Which loops a row is made of. The main loops and the Workers of one identity make two rows.
struct RowKey {
  PodIdentity identity;
  bool is_worker = false;
  auto operator<=>(const RowKey&) const = default;
};
struct RowLoops {
  std::set<pid_t> pids;
  std::set<pid_t> tids;
  std::set<front_door> doors;
};

/// One line of `uvtap top`.
struct TopRow {
  std::string name;  ///< printable: what the loops belong to
  bool is_worker = false;
  uint64_t loop_count = 0;
  RowLoops loops;
  std::set<ProcessInfo> runtimes;
  std::optional<WindowFigures> figures;  ///< none before the first full second
  double stall_seconds = 0;
};

/// What `uvtap top` shows at one moment.
struct TopView {
  Grouping grouping = Grouping::loop;
  uint64_t window_ns = 0;
  double unix_seconds = 0;           ///< when it was taken
  size_t processes = 0;              ///< observed Node.js processes
  size_t unsupported_processes = 0;  ///< found, but not observed
  std::vector<TopRow> rows;
};

/// From here on a busy stretch in progress is trouble.
inline constexpr double long_stall_seconds = 1.0;
/// From here on a loop is short of reserves.
inline constexpr double high_utilization = 0.7;

/// The rows of all loops that live, those in trouble first: long stalls by age, then who lets
/// events wait the longest, then the busiest.
[[nodiscard]] std::vector<TopRow> top_rows(std::span<const ContainerMetrics> containers,
                                           const std::map<RowKey, RowLoops>& loops);

/// Whether waiting would add nothing: every row has its figures.
[[nodiscard]] bool is_complete(const TopView& view);

}  // namespace uvtap
