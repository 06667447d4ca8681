// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/pod_sync.h"

#include <utility>

#include "userspace/identity/kube_request.h"

namespace uvtap {

using std::chrono::milliseconds;

PodSync::PodSync(KubeApi& api, PodDirectory& directory, WatchState& state, std::string node_name,
                 const KubernetesPatience& patience)
    : api_(api),
      directory_(directory),
      state_(state),
      node_name_(std::move(node_name)),
      patience_(patience),
      backoff_(patience.first_retry, patience.last_retry) {}

void PodSync::run() {
  while (true) {
    const auto done = version_.empty() ? list() : watch();
    if (done) continue;
    if (done.error().reason == KubeReason::stopped) return;
    if (!api_.pause(delay_after(done.error()))) return;
  }
}

KubeResult<void> PodSync::list() {
  const KubeApi::Limits limits{.whole = patience_.list, .silence = patience_.silence};
  if (auto begun = api_.get(list_request(node_name_, list_newest_), limits); !begun) return begun;
  tried_new_token_ = false;
  JsonStream stream(api_);
  auto list = read_pod_list(stream);
  if (!list) return std::unexpected(list.error());
  const size_t pods = list->pods.size();
  directory_.replace(std::move(list->pods));
  version_ = std::move(list->version);
  watched_since_list_ = false;
  state_.listed(pods);
  return {};
}

KubeResult<void> PodSync::watch() {
  const auto request = watch_request(node_name_, version_, patience_.watch);
  const KubeApi::Limits limits{.whole = patience_.watch + patience_.answer, .silence = {}};
  this_watch_works_ = false;
  if (auto begun = api_.get(request, limits); !begun) return begun;
  tried_new_token_ = false;
  const auto busy = api_.await_more(patience_.settle);
  if (!busy) return std::unexpected(busy.error());
  if (!*busy) watch_works();
  return follow_watch();
}

KubeResult<void> PodSync::follow_watch() {
  JsonStream stream(api_);
  while (true) {
    auto event = read_pod_event(stream);
    if (!event) return std::unexpected(event.error());
    if (!*event) break;
    apply(std::move(**event));
    watch_works();
  }
  // Else it would be asked again without end.
  if (!this_watch_works_)
    return kube_fail(KubeReason::disconnected, "it ends each watch as soon as it has begun");
  return {};
}

void PodSync::apply(PodEvent event) {
  version_ = std::move(event.version);
  if (event.kind == PodEvent::Kind::removed) directory_.remove(event.pod.uid);
  if (event.kind != PodEvent::Kind::put) return;
  if (!directory_.put(std::move(event.pod))) state_.has_too_many_pods();
}

/// That it has begun proves little: a server that fails may fail after each beginning.
void PodSync::watch_works() {
  this_watch_works_ = true;
  watched_since_list_ = true;
  list_newest_ = false;
  backoff_.reset();
  state_.works();
}

milliseconds PodSync::delay_after(const KubeFailure& failure) {
  if (will_soon_be_right(failure.reason)) {
    state_.counts(failure.reason);
    return failure.reason == KubeReason::unauthorized ? milliseconds{} : backoff_.next(random());
  }
  state_.fails(failure);
  // RBAC is changed by people.
  if (failure.reason == KubeReason::forbidden) return backoff_.longest(random());
  return backoff_.next(random());
}

/// Draws the consequences of a failure. True if it happens to healthy servers too, and the next
/// attempt will most likely succeed.
bool PodSync::will_soon_be_right(KubeReason reason) {
  switch (reason) {
    case KubeReason::unauthorized:
      // The token may have been rotated after it was read; the next attempt reads it anew.
      return !std::exchange(tried_new_token_, true);
    case KubeReason::gone:
      version_.clear();
      // A list out of an old cache can lead to a version that is gone as well.
      if (!watched_since_list_) list_newest_ = true;
      return std::exchange(watched_since_list_, false);
    case KubeReason::http:
    case KubeReason::malformed:
    case KubeReason::too_large:
      // Whatever is wrong with this version or the event after it, a list gets around it.
      version_.clear();
      return false;
    default:
      return false;
  }
}

}  // namespace uvtap
