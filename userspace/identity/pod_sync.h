// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <random>
#include <string>

#include "userspace/identity/backoff.h"
#include "userspace/identity/json_stream.h"
#include "userspace/identity/kube_access.h"
#include "userspace/identity/kube_api.h"
#include "userspace/identity/kube_failure.h"
#include "userspace/identity/pod_directory.h"
#include "userspace/identity/pod_json.h"
#include "userspace/identity/watch_state.h"

namespace uvtap {

/// Follows the pods of one node: a list, then watches one after the other from the version that was
/// reached, and a list again when the server has forgotten that version.
class PodSync {
 public:
  PodSync(KubeApi& api, PodDirectory& directory, WatchState& state, std::string node_name,
          const KubernetesPatience& patience);

  /// Until the api is stopped.
  void run();

 private:
  KubeResult<void> list();
  KubeResult<void> watch();
  KubeResult<void> follow_watch();
  void apply(PodEvent event);
  void watch_works();
  bool will_soon_be_right(KubeReason reason);
  [[nodiscard]] std::chrono::milliseconds delay_after(const KubeFailure& failure);
  [[nodiscard]] double random() { return std::uniform_real_distribution<>()(random_); }

  KubeApi& api_;
  PodDirectory& directory_;
  WatchState& state_;
  std::string node_name_;
  KubernetesPatience patience_;

  std::string version_;  // to watch from; empty: a list is needed
  bool this_watch_works_ = false;
  bool watched_since_list_ = false;
  bool list_newest_ = false;  // not what the server has at hand
  bool tried_new_token_ = false;
  Backoff backoff_;
  std::mt19937 random_{std::random_device{}()};
};

}  // namespace uvtap
