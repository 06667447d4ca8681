// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "userspace/config.h"
#include "userspace/identity/pod_identity.h"
#include "userspace/identity/pod_resolver.h"
#include "userspace/identity/pod_sources.h"
#include "userspace/observed_processes.h"

namespace uvtap {

/// Whom each observed process belongs to in this tick: its container in Kubernetes, itself
/// elsewhere.
class ProcessOwners {
 public:
  /// `sources` outlives it.
  ProcessOwners(PodSources& sources, Grouping grouping);

  void update(const std::map<pid_t, ObservedProcess>& processes, uint64_t now_ns);

  /// By which the figures of this process are put together. The process was in the last update().
  [[nodiscard]] PodIdentity of_process(pid_t pid) const;
  [[nodiscard]] PodIdentity of_loop(pid_t pid, pid_t tid) const;
  /// Its container is not known yet and may soon be: not to be shown.
  [[nodiscard]] bool is_held_back(pid_t pid) const { return owners_.at(pid).held_back; }
  /// Processes in a container that no source knows.
  [[nodiscard]] uint64_t unresolved() const { return unresolved_; }

 private:
  struct Owner {
    PodIdentity identity;
    bool held_back = false;
  };
  [[nodiscard]] Owner owner_of(const ObservedProcess& process);

  PodSources* sources_;
  Grouping grouping_;
  PodResolver resolver_;
  std::map<pid_t, Owner> owners_;
  uint64_t unresolved_ = 0;
};

}  // namespace uvtap
