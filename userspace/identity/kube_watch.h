// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "userspace/identity/kube_access.h"
#include "userspace/identity/pod_directory.h"
#include "userspace/identity/watch_state.h"
#include "userspace/util/result.h"

namespace uvtap {

class KubeApi;

/// Keeps a directory of this node's pods up to date, on a thread of its own. While the API server
/// is away the directory stays as it was.
class KubeWatch {
 public:
  using State = WatchState::Snapshot;

  /// Starts at once and returns without waiting for the server. The directory has to outlive the
  /// watch. Fails only on what cannot get better: an access that makes no sense.
  static Result<std::unique_ptr<KubeWatch>> start(KubernetesAccess access, PodDirectory& directory,
                                                  const KubernetesPatience& patience = {});
  /// Breaks off what is going on.
  ~KubeWatch();
  KubeWatch(const KubeWatch&) = delete;
  KubeWatch& operator=(const KubeWatch&) = delete;

  [[nodiscard]] State state() const { return state_.snapshot(); }
  /// Waits until the server has told of its pods, or an attempt has failed.
  [[nodiscard]] State first_state(std::chrono::milliseconds at_most) const {
    state_.await_outcome(at_most);
    return state_.snapshot();
  }
  /// Failures since the start by reason: those of KubeReason, and "too_many_pods". All of them,
  /// also those that are 0.
  [[nodiscard]] std::map<std::string, uint64_t> errors() const { return state_.errors(); }

 private:
  explicit KubeWatch(std::unique_ptr<KubeApi> api);

  std::unique_ptr<KubeApi> api_;
  WatchState state_;
  std::thread thread_;
};

}  // namespace uvtap
