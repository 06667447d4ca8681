// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace uvtap {

/// What uvtap keeps of a pod: a few hundred bytes of the ten thousand that the API server sends.
/// Informers that keep whole pods have run out of memory on large nodes (grafana/beyla 1354).
struct KnownPod {
  std::string uid;  ///< metadata.uid; for a static pod not the one in its cgroup's path
  std::string namespace_;
  std::string name;
  std::string
      workload_kind;  ///< "Deployment", "CronJob", ...; empty for a pod without a controller
  std::string workload;
  /// Container id, without "containerd://" before it → container name. Init and ephemeral ones too.
  std::map<std::string, std::string> containers;
};

}  // namespace uvtap
