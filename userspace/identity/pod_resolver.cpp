// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/pod_resolver.h"

namespace uvtap {
namespace {

PodIdentity identity_by_id(const std::string& container_id) {
  PodIdentity identity;
  identity.container = container_id;
  return identity;
}

}  // namespace

bool PodResolver::has_waited(const Known& known) const {
  return now_ns_ - known.first_asked_ns >= wait_ns_;
}

void PodResolver::look_up(const std::string& container_id, Known& known) const {
  if (auto identity = lookups_.api(container_id)) {
    known.identity = std::move(*identity);
    known.source = IdentitySource::api;
    return;
  }
  // The names of log files lack the workload, so the API server is worth a little waiting.
  if (known.source == IdentitySource::files || (lookups_.api_is_near() && !has_waited(known)))
    return;
  if (auto identity = lookups_.files(container_id)) {
    known.identity = std::move(*identity);
    known.source = IdentitySource::files;
  }
}

ResolvedContainer PodResolver::resolve(const std::string& container_id) {
  auto [entry, is_new] = known_.try_emplace(container_id);
  Known& known = entry->second;
  if (is_new) {
    known.identity = identity_by_id(container_id);
    known.first_asked_ns = now_ns_;
  }
  known.last_asked_ns = now_ns_;
  if (known.source != IdentitySource::api) look_up(container_id, known);
  const bool is_named = known.source != IdentitySource::container_id;
  return {known.identity, known.source, !is_named && !has_waited(known)};
}

void PodResolver::end_tick() {
  std::erase_if(known_, [&](const auto& entry) { return entry.second.last_asked_ns != now_ns_; });
}

}  // namespace uvtap
