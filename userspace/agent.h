// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "userspace/config.h"
#include "userspace/discovery/bounded_looks.h"
#include "userspace/discovery/process_tracker.h"
#include "userspace/governor.h"
#include "userspace/identity/pod_sources.h"
#include "userspace/loops/calibration.h"
#include "userspace/loops/loop_reader.h"
#include "userspace/metrics/container_book.h"
#include "userspace/metrics/self_metrics.h"
#include "userspace/observed_processes.h"
#include "userspace/probes/lifecycle_events.h"
#include "userspace/process_owners.h"

namespace uvtap {

/// The whole observation of this machine, moved on by tick(). It knows no HTTP and no terminal.
class Agent {
 public:
  /// Loads the BPF programs and tries the front doors. An error here is final, in one line.
  static Result<std::unique_ptr<Agent>> start(const Config& config, Grouping grouping);

  /// One second's work: every stage once, in the order in which the data flows.
  std::vector<ContainerMetrics> tick();

  /// Readable when a process was born or ended; then call take_lifecycle_events(), and a little
  /// later look_at_noted_processes().
  [[nodiscard]] int lifecycle_fd() const { return events_->fd(); }
  void take_lifecycle_events();
  void look_at_noted_processes();

  [[nodiscard]] SelfMetrics self_metrics() const;
  [[nodiscard]] const std::vector<DoorTrial>& door_trials() const { return trials_; }
  [[nodiscard]] const ObservedProcesses& processes() const { return *processes_; }
  /// What the last tick read, for those who show single loops.
  [[nodiscard]] const std::vector<LoopSnapshot>& loops() const { return loops_; }
  /// Whose figures this loop of the last tick was put together with.
  [[nodiscard]] PodIdentity identity_of(const LoopSnapshot& loop) const {
    return owners_.of_loop(loop.id.pid, loop.id.tid);
  }
  /// When the next of them will have been observed for one second: a tick from then on gives it its
  /// first figures. Nothing where all have them.
  [[nodiscard]] std::optional<uint64_t> next_first_figures_ns() const;
  /// The processes have been looked at, and what can be attached is. One process that refuses its
  /// probe does not make the whole machine unready; all of them do.
  [[nodiscard]] bool ready() const {
    return scanned_ && !(processes_->observed().empty() && processes_->any_attach_pending());
  }

 private:
  Agent(const Config& config, Grouping grouping, std::unique_ptr<PodSources> sources,
        std::unique_ptr<BpfPrograms> programs, LoopTable table);

  void track_processes(uint64_t now_ns);
  void handle(const ProcessChanges& changes, uint64_t now_ns);
  void read_loops();
  void keep_within_budget(uint64_t now_ns);
  void move(const Move& move);
  void say_whose_share_is_full(uint64_t now_ns);
  std::vector<ContainerMetrics> aggregate(uint64_t now_ns);

  ProcFs proc_;
  BoundedLooks looks_;
  std::unique_ptr<BpfPrograms> programs_;
  LoopTable table_;
  std::vector<DoorTrial> trials_;
  std::unique_ptr<LifecycleEvents> events_;
  ProcessTracker tracker_;
  MemoryDoor memory_door_;
  std::unique_ptr<ObservedProcesses> processes_;
  LoopReader reader_;
  std::vector<LoopSnapshot> loops_;
  std::optional<Governor> governor_;
  DoorMoves moves_;
  std::unique_ptr<PodSources> sources_;
  ProcessOwners owners_;
  ContainerBook book_;
  LogLimiter log_;
  uint64_t turns_beyond_share_ = 0;  ///< when last looked at
  uint64_t limited_containers_ = 0;
  uint64_t ticked_at_ns_ = 0;
  uint64_t next_scan_ns_ = 0;
  bool scanned_ = false;
};

}  // namespace uvtap
