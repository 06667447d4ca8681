// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "userspace/commands/check_report.h"
#include "userspace/discovery/proc_fs.h"
#include "userspace/identity/pod_sources.h"

namespace uvtap {

/// One line of `uvtap check`: where the names of pods come from. Waits for the API server's answer.
[[nodiscard]] CheckLine check_pod_names(const PodSources& sources);

/// "shop/web-1/app" for a process in a pod, "container 0123456789ab" for one in a container that no
/// source knows, empty for others.
[[nodiscard]] std::string container_name(pid_t pid, const ProcFs& proc, PodSources& sources);

}  // namespace uvtap
