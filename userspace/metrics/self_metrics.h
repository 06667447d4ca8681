// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "bpf/loop_contract.h"

namespace uvtap {

/// How often a process was moved between front doors to keep within the overhead budget.
struct DoorMoves {
  uint64_t to_memory = 0;
  uint64_t back = 0;
};

/// What uvtap knows of itself. Counters count from its start.
struct SelfMetrics {
  std::string version;

  uint64_t attached_binaries = 0;
  std::map<std::string, uint64_t> attach_failures;  ///< by reason, a fixed set of short words
  std::array<uint64_t, FRONT_DOOR_COUNT> probe_hits{};
  /// Measured on this machine at start, per hit; none where a door was not measured.
  std::array<std::optional<double>, FRONT_DOOR_COUNT> probe_cost_seconds{};
  std::array<uint64_t, LOST_REASON_COUNT> lost{};
  /// What was left out because of a limit, at each tick anew; by the limit, a fixed set of words.
  std::map<std::string, uint64_t> limited;
  /// Looks into a process's memory that failed: a turn in progress was not counted up to then.
  uint64_t unreadable_looks = 0;

  /// Node processes that are alive.
  uint64_t processes_observed = 0;
  uint64_t processes_waiting = 0;      ///< no loop seen yet
  uint64_t processes_unsupported = 0;  ///< cannot be observed
  uint64_t processes_over_budget = 0;  ///< of those observed: without their probe for now
  DoorMoves door_moves;

  uint64_t identity_unresolved = 0;  ///< processes in a container that no pod is known for
  std::string kubernetes_source;     ///< "api", "files", "none" or "off"
  std::map<std::string, uint64_t> kubernetes_watch_errors;  ///< by reason, a fixed set of words
};

}  // namespace uvtap
