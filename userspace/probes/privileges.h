// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/capability.h>

#include "userspace/probes/bpf_programs.h"
#include "userspace/symbols/probe_plan.h"
#include "userspace/util/capabilities.h"
#include "userspace/util/result.h"

namespace uvtap {

// What uvtap needs which capability for; measured, see docs/decisions/least-privilege.md.

/// All that it can make use of.
inline constexpr CapabilitySet usable_capabilities{CAP_BPF,
                                                   CAP_PERFMON,
                                                   CAP_SYS_ADMIN,
                                                   CAP_SYS_PTRACE,
                                                   CAP_CHECKPOINT_RESTORE,
                                                   CAP_DAC_READ_SEARCH};

inline constexpr const char* sufficient_capabilities =
    "run as root, or with CAP_SYS_PTRACE and either CAP_SYS_ADMIN or, from Linux 6.10 on, CAP_BPF "
    "and CAP_PERFMON";

/// To load BPF programs that read memory, and to attach them to the kernel's tracepoints.
[[nodiscard]] bool may_use_bpf(CapabilitySet held);
/// What is missing on every kernel; CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON.
[[nodiscard]] CapabilitySet missing_capabilities(CapabilitySet held);

/// Gives up, in this thread, all that uvtap cannot make use of, but for the right to give up more
/// (CAP_SETPCAP). Fails in one line if what is left
/// does not suffice on any kernel.
[[nodiscard]] Result<void> drop_unusable_privileges();

/// Gives up, in this thread, CAP_SETPCAP, and CAP_SYS_ADMIN where probes can be attached without it
/// from now on.
/// `doors`: those that have been tried and may be used.
[[nodiscard]] Result<void> drop_privileges_of_the_start(const BpfPrograms& programs,
                                                        const DoorPreference& doors);

}  // namespace uvtap
