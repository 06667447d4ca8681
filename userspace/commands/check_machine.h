// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "userspace/commands/check_report.h"
#include "userspace/loops/calibration.h"
#include "userspace/probes/bpf_programs.h"
#include "userspace/util/result.h"

namespace uvtap {

// One line of `uvtap check` each, about the machine.

[[nodiscard]] CheckLine check_kernel();
[[nodiscard]] CheckLine check_btf();
[[nodiscard]] CheckLine check_pid_namespace();
[[nodiscard]] CheckLine check_capabilities();
[[nodiscard]] CheckLine check_lockdown();
[[nodiscard]] CheckLine check_tracefs();
[[nodiscard]] CheckLine check_perf_event_paranoid();
[[nodiscard]] CheckLine check_bpf(const Result<BpfPrograms>& programs);
/// Attaches to the kernel's exec, fork, exit and signal tracepoints, until `programs` goes.
[[nodiscard]] CheckLine check_lifecycle(BpfPrograms& programs);
/// How uprobes are attached, and whether what is held suffices for that.
[[nodiscard]] CheckLine check_uprobes(UprobeWay way, const std::vector<DoorTrial>& trials);
/// `another_works`: then this one is not missed.
[[nodiscard]] CheckLine check_door(const DoorTrial& trial, bool another_works);

/// Whether this process may look into those of other users.
[[nodiscard]] bool may_look_into_processes();

}  // namespace uvtap
