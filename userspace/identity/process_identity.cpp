// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/process_identity.h"

namespace uvtap {

PodIdentity process_identity(const std::string& name, pid_t pid) {
  PodIdentity identity;
  identity.process = name + "/" + std::to_string(pid);
  return identity;
}

PodIdentity loop_identity(PodIdentity identity, pid_t pid, pid_t tid) {
  if (tid != pid) identity.process += " worker/" + std::to_string(tid);
  return identity;
}

}  // namespace uvtap
