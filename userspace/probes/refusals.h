// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "userspace/probes/bpf_programs.h"

namespace uvtap {

// Why the kernel refuses something, from the errno that it gave and what can be seen of the
// machine: the cause and the remedy in one line, without a full stop. Where neither is known it is
// what the errno means.

/// To use bpf(2) at all.
[[nodiscard]] std::string why_bpf_is_refused(int error_number);
/// Of a program that was not loaded though bpf(2) may be used.
[[nodiscard]] std::string why_programs_are_refused(int error_number);
/// To attach to one of the kernel's own tracepoints.
[[nodiscard]] std::string why_kernel_tracepoint_is_refused(int error_number);
/// To attach a uprobe.
[[nodiscard]] std::string why_uprobe_is_refused(int error_number, UprobeWay way);
/// To open a perf event.
[[nodiscard]] std::string why_perf_event_is_refused(int error_number);
/// What hides the numbers of the tracepoints where it is not `seen`, which is said otherwise.
[[nodiscard]] std::string why_tracepoint_is_unknown(const std::string& seen);

}  // namespace uvtap
