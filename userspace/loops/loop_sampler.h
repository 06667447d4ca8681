// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "bpf/loop_contract.h"
#include "userspace/discovery/proc_fs.h"
#include "userspace/loops/sampled_loop.h"
#include "userspace/util/patient_thread.h"

namespace uvtap {

/// Reads the counters of its loops every two milliseconds, on a thread of its own. No lock is held
/// while memory is read. To be used by one thread.
class LoopSampler {
 public:
  /// Loops beyond these are left alone.
  struct Limits {
    size_t loops = 0;
    size_t loops_per_process = 0;
  };
  LoopSampler(ProcFs proc, uint64_t delay_resolution_ms, const Limits& limits);
  ~LoopSampler();

  /// Unless this thread has a loop here already.
  void add(const loop_slot& slot, const LibuvLayout& layout);
  void forget(pid_t pid);
  /// Forgets a process and hands its living loops on, as they are now.
  [[nodiscard]] std::vector<loop_slot> release(pid_t pid);
  /// How often a loop was to be added that is beyond the limits.
  [[nodiscard]] uint64_t limited() const { return limited_; }
  /// Loops of processes that are not to be read for now keep what they have.
  void pause_unless(const std::function<bool(pid_t)>& may_read);

  /// All loops as they are now; one whose thread has ended is in it for a last time.
  [[nodiscard]] std::vector<loop_slot> take_slots();
  /// How often a counter was found to lie, and its loop was counted anew from there.
  [[nodiscard]] uint64_t restarts() const;

  struct Stuck {
    pid_t pid = 0;
    Hang hang;
  };
  /// A read that has waited for longer than this is given up together with its thread; a new one
  /// goes on with all loops. To be asked each second.
  [[nodiscard]] std::optional<Stuck> give_up_stuck(uint64_t limit_ns);

 private:
  struct State;
  void start();
  [[nodiscard]] bool has_room_for(const loop_slot& slot) const;

  ProcFs proc_;
  uint64_t delay_resolution_ms_;
  Limits limits_;
  uint64_t limited_ = 0;
  std::shared_ptr<State> state_;  ///< shared with its thread
  PatientThread thread_{"memory_door"};
  bool started_ = false;
};

}  // namespace uvtap
