// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "userspace/identity/pod_identity.h"

namespace uvtap {

/// Whom a process belongs to outside Kubernetes: to itself, as "<script or executable>/<pid>".
[[nodiscard]] PodIdentity process_identity(const std::string& name, pid_t pid);

/// Narrows an identity down to one loop: that of the main thread keeps its process's name, a
/// Worker's is told apart by " worker/<tid>".
[[nodiscard]] PodIdentity loop_identity(PodIdentity identity, pid_t pid, pid_t tid);

}  // namespace uvtap
