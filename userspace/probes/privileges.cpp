// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/privileges.h"

#include <algorithm>

#include "userspace/probes/front_door.h"

namespace uvtap {
namespace {

/// The tracepoints need it where tracefs is not mounted, and, on Debian's and Ubuntu's kernels,
/// where perf_event_paranoid is above 2. Trying is surer than knowing all rules.
bool tracepoint_needs_sys_admin(const BpfPrograms& programs) {
  const WithoutCapabilities without({CAP_SYS_ADMIN});
  return !attach_epoll_tracepoints(programs);
}

bool needs_sys_admin(const BpfPrograms& programs, const DoorPreference& doors) {
  if (programs.uprobe_way() != UprobeWay::uprobe_multi) return true;
  if (!may_use_bpf(effective_capabilities().without({CAP_SYS_ADMIN}))) return true;
  const bool uses_tracepoint = std::ranges::find(doors, FRONT_DOOR_TRACEPOINT) != doors.end();
  return uses_tracepoint && tracepoint_needs_sys_admin(programs);
}

}  // namespace

bool may_use_bpf(CapabilitySet held) {
  return held.has(CAP_SYS_ADMIN) || (held.has(CAP_BPF) && held.has(CAP_PERFMON));
}

CapabilitySet missing_capabilities(CapabilitySet held) {
  CapabilitySet needed{CAP_SYS_PTRACE};
  if (!held.has(CAP_SYS_ADMIN)) needed = {CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE};
  return needed.without(held);
}

Result<void> drop_unusable_privileges() {
  if (auto kept = keep_only(usable_capabilities | CapabilitySet{CAP_SETPCAP}); !kept) return kept;
  const auto missing = missing_capabilities(effective_capabilities());
  if (missing.empty()) return {};
  return fail("not permitted to observe other processes, without {}: {}", to_string(missing),
              sufficient_capabilities);
}

Result<void> drop_privileges_of_the_start(const BpfPrograms& programs,
                                          const DoorPreference& doors) {
  if (needs_sys_admin(programs, doors)) return keep_only(usable_capabilities);
  return keep_only(usable_capabilities.without({CAP_SYS_ADMIN}));
}

}  // namespace uvtap
