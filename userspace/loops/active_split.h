// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace uvtap {

/// Where active time went. The parts add up to the active time that was given.
struct ActiveParts {
  uint64_t cpu_ns = 0;
  uint64_t runqueue_ns = 0;
  uint64_t blocked_ns = 0;
};

/// Splits a loop's active time by the scheduler's account of its thread, step by step.
///
/// The two clocks do not quite meet. The kernel brings a running thread's CPU time up to date at
/// its ticks only, so up to a few milliseconds arrive one step late: they are kept for the next
/// step. And some CPU and run-queue time belongs to the waiting (the system call, the wake-up):
/// what does not fit into the active time is left out.
class ActiveSplit {
 public:
  /// What was added since the step before.
  const ActiveParts& add(uint64_t active_ns, uint64_t cpu_ns, uint64_t runqueue_ns);
  [[nodiscard]] const ActiveParts& total() const { return total_; }

 private:
  ActiveParts total_;
  uint64_t late_cpu_ns_ = 0;
};

}  // namespace uvtap
