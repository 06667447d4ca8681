// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "userspace/discovery/proc_fs.h"
#include "userspace/util/result.h"

namespace uvtap {

/// Names one program in one process, and never another one. The pid alone is reused; an exec keeps
/// pid and start time but replaces everything else, hence the incarnation, which the tracker counts
/// up with each process that appears.
struct ProcessId {
  pid_t pid = 0;
  uint64_t start_time_ticks = 0;
  uint64_t incarnation = 0;
  auto operator<=>(const ProcessId&) const = default;
};

struct ProcessChanges {
  std::vector<ProcessId> gone;  ///< to be handled first: a pid may be in both
  std::vector<ProcessId> appeared;
};

/// Keeps the list of living processes. /proc is the truth; what the kernel's events say is a hint
/// where to look, since an event may be lost, and may arrive before or after a scan saw its effect.
/// So a process that a scan found just after its exec is reported as gone and appeared once more
/// when the event arrives: one more look at it, no harm.
class ProcessTracker {
 public:
  void note_fork(pid_t pid);  ///< the child
  void note_exec(pid_t pid);
  void note_exit(pid_t pid);

  /// Compares all of /proc with the last state, and uses up the hints. A failure changes nothing.
  Result<ProcessChanges> scan(const ProcFs& proc);
  /// The same for the noted processes only.
  ProcessChanges look_at_noted(const ProcFs& proc);

 private:
  enum class Hint {
    look,      // may be new
    replaced,  // whoever lives there now is not the one known before
    ended,     // if it is still there, it is on its way out
  };
  void look_at(pid_t pid, const ProcFs& proc, ProcessChanges& changes);

  std::map<pid_t, ProcessId> processes_;
  std::map<pid_t, Hint> hints_;
  uint64_t last_incarnation_ = 0;
};

}  // namespace uvtap
