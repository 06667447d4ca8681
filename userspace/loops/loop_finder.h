// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <vector>

#include "bpf/loop_contract.h"
#include "userspace/discovery/proc_fs.h"
#include "userspace/symbols/probe_plan.h"

namespace uvtap {

/// The loops of a process that can be found in its memory now, each as a slot that starts counting
/// at this moment: the main loop through libuv's own pointer to it, the others where their threads
/// wait in epoll. A Worker that is busy just now shows itself at its next turn.
[[nodiscard]] std::vector<loop_slot> find_loops(pid_t pid, const ProbePlan& plan,
                                                const ProcFs& proc, uint64_t delay_resolution_ms);

/// What BPF is told of a process with this plan. `owner`: see LoopShares.
[[nodiscard]] observed_process describe(const ProbePlan& plan, uint32_t owner);

}  // namespace uvtap
