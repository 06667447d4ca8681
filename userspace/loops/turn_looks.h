// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "userspace/discovery/bounded_looks.h"
#include "userspace/discovery/proc_fs.h"
#include "userspace/loops/loop_memory.h"

namespace uvtap {

/// A loop that is to be looked at; with the pid 0, none.
struct TurnLookRequest {
  pid_t pid = 0;
  pid_t tid = 0;
  uint64_t loop_address = 0;
  LibuvLayout layout;
  bool times_while_waiting = false;  ///< else its CPU time is asked for only while it is busy
};

/// What its memory and its thread say at one moment.
struct TurnLook {
  LoopCounters counters;
  std::optional<ThreadTimes> times;  ///< none for a thread that waits, and so uses no CPU
};

/// Looks at many loops at once, on a thread that is given up where one of them hangs: the others
/// are looked at all the same. One hand-off for all of them, since every loop is looked at each
/// second.
class TurnLooks {
 public:
  TurnLooks(ProcFs proc, BoundedLooks& looks) : proc_(std::move(proc)), looks_(&looks) {}

  /// One answer per request, in their order; none where the loop could not be looked at.
  [[nodiscard]] std::vector<std::optional<TurnLook>> at(
      const std::vector<TurnLookRequest>& requests);

 private:
  struct Batch;
  [[nodiscard]] std::vector<size_t> allowed(const std::vector<TurnLookRequest>& requests,
                                            size_t first);
  /// Returns how far it came: all of the batch, or up to the look that hangs.
  size_t read(const std::shared_ptr<Batch>& batch);
  static void read_all(Batch& batch);

  ProcFs proc_;
  BoundedLooks* looks_;
  PatientThread thread_{"turn_looks"};
};

}  // namespace uvtap
