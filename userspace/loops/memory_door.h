// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "bpf/loop_contract.h"
#include "userspace/discovery/bounded_looks.h"
#include "userspace/discovery/proc_fs.h"
#include "userspace/loops/loop_sampler.h"
#include "userspace/symbols/probe_plan.h"

namespace uvtap {

/// The front door that needs no probe: every two milliseconds a thread reads the counters that
/// libuv keeps. Time is exact, since libuv counts it. Turns are seen where the counters show them:
/// a busy stretch of less than two milliseconds may be taken together with its neighbours, and the
/// ends of longer ones may be off by as much.
///
/// A process whose memory does not answer is left out until it does; what the others did meanwhile,
/// up to a second, is seen with less detail.
class MemoryDoor {
 public:
  MemoryDoor(const ProcFs& proc, BoundedLooks& looks, uint64_t delay_resolution_ms,
             const LoopSampler::Limits& limits)
      : proc_(&proc),
        looks_(&looks),
        delay_resolution_ms_(delay_resolution_ms),
        sampler_(proc, delay_resolution_ms, limits) {}

  void observe(pid_t pid, const ProbePlan& plan);
  /// Observes a process whose loops are known already: their totals go on where they stand.
  void adopt(pid_t pid, const ProbePlan& plan, std::span<const loop_slot> slots);
  void forget(pid_t pid);
  /// Forgets a process and hands its loops on, as they are now.
  [[nodiscard]] std::vector<loop_slot> release(pid_t pid);
  /// Finds the loops that observed processes have made since the last call, and gives up a read
  /// that hangs. To be called each second.
  void find_new_loops();
  /// How often a loop was found that is beyond the limits.
  [[nodiscard]] uint64_t limited() const { return sampler_.limited(); }

  /// All loops as they are now; one whose thread has ended is in it for a last time.
  [[nodiscard]] std::vector<loop_slot> take_slots() { return sampler_.take_slots(); }
  /// How often a counter was found to lie, and its loop was counted anew from there.
  [[nodiscard]] uint64_t restarts() const { return sampler_.restarts(); }

 private:
  void find_loops_of(pid_t pid, const ProbePlan& plan);
  void give_up_stuck();

  const ProcFs* proc_;
  BoundedLooks* looks_;
  uint64_t delay_resolution_ms_;
  std::map<pid_t, ProbePlan> plans_;
  LoopSampler sampler_;
};

}  // namespace uvtap
