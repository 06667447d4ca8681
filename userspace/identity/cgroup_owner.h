// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "userspace/discovery/proc_fs.h"

namespace uvtap {

/// Whom to hold to account for what a process does to us, in words: its container, outside
/// containers its cgroup, and in the machine's own cgroup the process alone. `cgroup`: the text of
/// /proc/PID/cgroup; empty where it could not be read.
[[nodiscard]] std::string owner_by_cgroup(std::string_view cgroup, pid_t pid);

/// The same for the processes of this /proc, whose cgroup can be read without being held up.
inline auto owner_by_cgroup_in(const ProcFs& proc) {
  return [proc](pid_t pid) { return owner_by_cgroup(proc.cgroup(pid).value_or(""), pid); };
}

}  // namespace uvtap
