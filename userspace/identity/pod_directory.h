// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/identity/known_pod.h"
#include "userspace/identity/pod_identity.h"

namespace uvtap {

/// The pods of this node, by their containers. One thread writes what the API server says, another
/// one asks: every call may be made from any thread.
class PodDirectory {
 public:
  /// A node runs 110 pods, a few hundred at most; this many take some 10 MB.
  static constexpr size_t max_pods = 10'000;

  /// After a list: these pods and no others, `max_pods` of them.
  void replace(std::vector<KnownPod> pods);
  /// A pod is new or changed. A new one beyond `max_pods` is refused: false.
  bool put(KnownPod pod);
  void remove(const std::string& uid);

  /// Whom the container belongs to; nothing if no pod names it. `process` is empty.
  [[nodiscard]] std::optional<PodIdentity> find(std::string_view container_id) const;
  [[nodiscard]] size_t pods() const;

 private:
  bool insert(KnownPod pod);
  void erase(const std::string& uid);

  mutable std::mutex mutex_;
  std::map<std::string, KnownPod, std::less<>> pods_;          // by uid
  std::map<std::string, std::string, std::less<>> uid_of_id_;  // of the pod, by container id
};

}  // namespace uvtap
