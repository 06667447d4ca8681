// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace uvtap {

/// The controller that a person named.
struct Workload {
  std::string kind;
  std::string name;
  bool operator==(const Workload&) const = default;
};

/// From the owner that controls a pod, and the pod's label `pod-template-hash` (empty if it has
/// none), to what stands behind it:
///  - ReplicaSet "web-6b7f9c5d8" is Deployment "web" if 6b7f9c5d8 is the pod's hash; else a person
///    made the ReplicaSet.
///  - Job "backup-29467080" is CronJob "backup" if the digits are the moment of a run; see the
///    source file for which are.
///  - Node: the pod is the mirror of a file on the node, no workload.
[[nodiscard]] Workload workload_behind(std::string_view owner_kind, std::string_view owner_name,
                                       std::string_view template_hash);

}  // namespace uvtap
