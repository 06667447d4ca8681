// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "userspace/loops/histogram.h"
#include "userspace/loops/loop_snapshot.h"

namespace uvtap {

inline constexpr uint64_t ms = 1'000'000;
inline constexpr uint64_t second = 1'000 * ms;

/// A loop that does what a test tells it, keeping the totals that the BPF side would keep.
class SyntheticLoop {
 public:
  SyntheticLoop(pid_t pid, uint64_t born_ns, bool is_worker = false) {
    now_.id = {.pid = pid, .tid = is_worker ? pid + 1 : pid, .observed_since_ns = born_ns};
    now_.is_worker = is_worker;
    now_.door = FRONT_DOOR_IO_POLL;
    now_.taken_at_ns = born_ns;
  }

  void idle(uint64_t span_ns) {
    now_.idle_ns += span_ns;
    now_.taken_at_ns += span_ns;
  }
  /// Goes on with the busy stretch in progress, or begins one.
  void be_busy(uint64_t span_ns) {
    now_.active_ns += span_ns;
    now_.cpu_ns += span_ns;
    now_.stall_ns += span_ns;
    now_.taken_at_ns += span_ns;
  }
  void finish_turn() {
    add_value(turn_geometry, now_.turn_histogram, now_.stall_ns);
    now_.turns += 1;
    now_.stall_ns = 0;
  }
  void turn(uint64_t span_ns) {
    be_busy(span_ns);
    finish_turn();
  }
  void fire_timer(uint64_t interval_ns) {
    add_value(delay_geometry, now_.delay_histogram, interval_ns);
  }
  void set_overdue(uint64_t span_ns) { now_.overdue_delay_ns = span_ns; }
  void end() { now_.ended = true; }

  [[nodiscard]] const LoopSnapshot& snapshot() const { return now_; }

 private:
  LoopSnapshot now_;
};

}  // namespace uvtap
