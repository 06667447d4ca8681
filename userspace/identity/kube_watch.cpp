// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/kube_watch.h"

#include <utility>

#include "userspace/identity/kube_api.h"
#include "userspace/identity/kube_request.h"
#include "userspace/identity/pod_sync.h"
#include "userspace/util/capabilities.h"
#include "userspace/util/signals_blocked.h"

namespace uvtap {

Result<std::unique_ptr<KubeWatch>> KubeWatch::start(KubernetesAccess access,
                                                    PodDirectory& directory,
                                                    const KubernetesPatience& patience) {
  if (!is_node_name(access.node_name))
    return fail(
        "\"{}\" is not the name of a node: set NODE_NAME to spec.nodeName by the downward API",
        access.node_name);
  auto api = KubeApi::make(access, patience);
  if (!api) return std::unexpected(api.error());
  std::unique_ptr<KubeWatch> watch(new KubeWatch(std::move(*api)));
  auto follow = [&api = *watch->api_, &state = watch->state_, &directory,
                 node_name = std::move(access.node_name), patience] {
    if (drop_all_in_this_thread()) PodSync(api, directory, state, node_name, patience).run();
  };
  // For libcurl's own threads too, which resolve names; and a broken connection raises no SIGPIPE.
  const SignalsBlocked blocked;
  watch->thread_ = std::thread(std::move(follow));
  return watch;
}

KubeWatch::KubeWatch(std::unique_ptr<KubeApi> api) : api_(std::move(api)) {}

KubeWatch::~KubeWatch() {
  api_->stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace uvtap
