// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>

namespace uvtap {

/// Whom a loop belongs to: the labels of its series, and the key by which loops are put together.
/// In Kubernetes `process` is empty unless series are kept per process; outside it only `process`
/// is set.
struct PodIdentity {
  std::string namespace_;
  std::string pod;
  std::string container;
  std::string workload_kind;  ///< "Deployment", "StatefulSet", ...
  std::string workload;       ///< the controller a person named: the Deployment, not its ReplicaSet
  std::string process;        ///< "<script or executable name>/<pid>"
  auto operator<=>(const PodIdentity&) const = default;
};

}  // namespace uvtap
