// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "userspace/commands/check_report.h"
#include "userspace/discovery/proc_fs.h"
#include "userspace/identity/pod_sources.h"
#include "userspace/probes/patient_inspector.h"
#include "userspace/util/result.h"

namespace uvtap {

/// A process of Node.js, or of something that looks like it.
struct CheckedProcess {
  std::string name;       ///< "server.js/1234"
  std::string container;  ///< "shop/web-1/app"; empty outside of any
  PlanOutcome outcome;
  std::string node_version;           ///< empty where it cannot be read
  Result<void> memory_readable = {};  ///< of one that can be observed
};

struct CheckedProcesses {
  std::vector<CheckedProcess> known;
  /// May be Node.js too: none of their files can be read.
  std::vector<std::string> unreadable;
  std::string unreadable_why;  ///< of the last one
};

/// Looks at every process without attaching to it.
[[nodiscard]] Result<CheckedProcesses> inspect_processes(const ProcFs& proc,
                                                         PatientInspector& inspector,
                                                         BoundedLooks& looks, PodSources& sources);

/// Whether libuv's counters can be read from the memory of those that can be observed.
[[nodiscard]] CheckLine check_memory(const std::vector<CheckedProcess>& processes);
[[nodiscard]] CheckLine check_process(const CheckedProcess& process);
/// One line for all of them; there is at least one.
[[nodiscard]] CheckLine check_unreadable(const CheckedProcesses& processes);

}  // namespace uvtap
