// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "userspace/identity/json_stream.h"
#include "userspace/identity/known_pod.h"
#include "userspace/identity/kube_failure.h"

namespace uvtap {

/// A pod takes 10 kB, with a service mesh 30 kB: this is enough for all of PodDirectory::max_pods.
inline constexpr uint64_t max_list_bytes = 512 << 20;
/// An object in etcd takes 1.5 MiB at most by default.
inline constexpr uint64_t max_event_bytes = 16 << 20;

/// The answer to a list request.
struct PodList {
  std::string version;  ///< to watch from
  std::vector<KnownPod> pods;
};

/// What a watch tells.
struct PodEvent {
  enum class Kind { put, removed, bookmark };
  Kind kind = Kind::bookmark;
  std::string version;  ///< to go on from
  KnownPod pod;         ///< none in a bookmark
};

/// Reads the list that the stream consists of, needing no memory for what is not kept.
[[nodiscard]] KubeResult<PodList> read_pod_list(JsonStream& stream);

/// Waits for the next event; nothing when the stream has ended. An ERROR event is a failure: `gone`
/// if its code is 410, else `http`.
[[nodiscard]] KubeResult<std::optional<PodEvent>> read_pod_event(JsonStream& stream);

}  // namespace uvtap
