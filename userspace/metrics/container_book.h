// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "userspace/identity/pod_identity.h"
#include "userspace/loops/loop_snapshot.h"
#include "userspace/loops/loop_window.h"
#include "userspace/metrics/container_metrics.h"
#include "userspace/metrics/group_totals.h"

namespace uvtap {

/// A loop as this tick found it. Neither pointer is null.
struct ObservedLoop {
  const LoopSnapshot* snapshot = nullptr;
  const PodIdentity* identity = nullptr;
};

/// A process that is alive in this tick, whether or not a loop of it is observed.
struct LiveProcess {
  PodIdentity identity;
  ProcessInfo info;
};

/// Keeps the account of every container from tick to tick: the window of each loop, and the totals
/// that outlive loops.
class ContainerBook {
 public:
  /// Of one container, while it lives: versions come from its processes' memory.
  static constexpr size_t max_runtimes = 8;

  explicit ContainerBook(uint64_t window_ns) : window_ns_(window_ns) {}

  /// Takes in one tick. A loop that is not among `loops` any more has ended. A container without a
  /// live process is forgotten at once, with all its loops.
  std::vector<ContainerMetrics> update(uint64_t now_ns, std::span<const ObservedLoop> loops,
                                       std::span<const LiveProcess> processes);

  /// The window of a loop, or null; for readers that show single loops. Valid until update().
  [[nodiscard]] const LoopWindow* window(const LoopId& loop) const;

  /// How often a process was shown without its versions because of max_runtimes.
  [[nodiscard]] uint64_t limited_runtimes() const { return limited_runtimes_; }

 private:
  /// The main loops of a container, or its Worker loops.
  struct Group {
    GroupTotals totals;
    std::vector<const LoopWindow*> windows;  ///< of this tick, fading ones included
    std::map<front_door, uint64_t> loops_by_door;
  };
  struct Container {
    std::set<ProcessInfo> runtimes;  ///< of this tick; empty: no live process
    std::set<ProcessInfo> known_runtimes;
    std::optional<Group> main;
    std::optional<Group> workers;
  };
  using Containers = std::map<PodIdentity, Container>;
  struct TrackedLoop {
    LoopWindow window;
    Containers::iterator container;
    bool is_worker = false;
    front_door door = FRONT_DOOR_NONE;
    uint64_t seen_at_ns = 0;
  };

  static Group& group_of(Container& container, bool is_worker);
  static LoopGroupMetrics group_metrics(Group& group, uint64_t now_ns);

  [[nodiscard]] ProcessInfo admit(Container& container, const ProcessInfo& runtime);
  void note_live_processes(std::span<const LiveProcess> processes);
  TrackedLoop& track(const LoopId& id, Containers::iterator container);
  void observe(const ObservedLoop& loop, uint64_t now_ns);
  void finish_unseen_loops(uint64_t now_ns);
  void forget_what_is_gone();
  std::vector<ContainerMetrics> collect(uint64_t now_ns);

  uint64_t window_ns_;
  Containers containers_;
  std::map<LoopId, TrackedLoop> loops_;
  uint64_t limited_runtimes_ = 0;
};

}  // namespace uvtap
