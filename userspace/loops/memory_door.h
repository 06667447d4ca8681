// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "bpf/loop_contract.h"
#include "userspace/discovery/proc_fs.h"
#include "userspace/loops/sampled_loop.h"
#include "userspace/symbols/probe_plan.h"

namespace uvtap {

/// The front door that needs no probe: every two milliseconds a thread reads the counters that
/// libuv keeps. Time is exact, since libuv counts it. Turns are seen where the counters show them:
/// a busy stretch of less than two milliseconds may be taken together with its neighbours, and the
/// ends of longer ones may be off by as much.
class MemoryDoor {
 public:
  /// Loops beyond these are left alone.
  struct Limits {
    size_t loops = 0;
    size_t loops_per_process = 0;
  };
  MemoryDoor(const ProcFs& proc, uint64_t delay_resolution_ms, const Limits& limits)
      : proc_(&proc), delay_resolution_ms_(delay_resolution_ms), limits_(limits) {}

  void observe(pid_t pid, const ProbePlan& plan);
  /// Observes a process whose loops are known already: their totals go on where they stand.
  void adopt(pid_t pid, const ProbePlan& plan, std::span<const loop_slot> slots);
  void forget(pid_t pid);
  /// Forgets a process and hands its loops on, as they are now.
  [[nodiscard]] std::vector<loop_slot> release(pid_t pid);
  /// Finds the loops that observed processes have made since the last call.
  void find_new_loops();
  /// How often a loop was found that is beyond the limits.
  [[nodiscard]] uint64_t limited() const { return limited_; }

  /// All loops as they are now; one whose thread has ended is in it for a last time.
  [[nodiscard]] std::vector<loop_slot> take_slots();

 private:
  void add(const loop_slot& slot, const LibuvLayout& layout);
  void sample_until_stopped(const std::stop_token& stop);
  void start_sampling();
  void sample(SampledLoop& loop);

  const ProcFs* proc_;
  uint64_t delay_resolution_ms_;
  Limits limits_;
  uint64_t limited_ = 0;
  std::map<pid_t, ProbePlan> plans_;

  std::mutex mutex_;                    ///< guards loops_; held for one round of reads
  std::condition_variable_any wake_;    ///< there is a loop to sample, or an end to it
  std::map<pid_t, SampledLoop> loops_;  ///< by thread
  std::jthread sampler_;                ///< last, so that it ends first
};

}  // namespace uvtap
