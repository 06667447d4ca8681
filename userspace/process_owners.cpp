// SPDX-License-Identifier: Apache-2.0
#include "userspace/process_owners.h"

#include "userspace/identity/process_identity.h"

namespace uvtap {

ProcessOwners::ProcessOwners(PodSources& sources, Grouping grouping)
    : sources_(&sources),
      grouping_(grouping),
      resolver_(sources.lookups(), sources.any() ? identity_wait_ns : 0) {}

void ProcessOwners::update(const std::map<pid_t, ObservedProcess>& processes, uint64_t now_ns) {
  sources_->say_changes();
  owners_.clear();
  unresolved_ = 0;
  resolver_.begin_tick(now_ns);
  for (const auto& [pid, process] : processes) owners_[pid] = owner_of(process);
  resolver_.end_tick();
}

ProcessOwners::Owner ProcessOwners::owner_of(const ObservedProcess& process) {
  const PodIdentity itself = process_identity(process.name, process.id.pid);
  const auto& [pod_uid, container_id] = process.container;
  if (sources_->is_off() || container_id.empty()) return {itself, false};
  auto container = resolver_.resolve(container_id);
  const bool is_known = container.source != IdentitySource::container_id;
  // A container that is no pod's, outside Kubernetes or beside it.
  if (!is_known && pod_uid.empty() && !container.held_back) return {itself, false};
  if (!is_known) ++unresolved_;
  if (grouping_ != Grouping::container) container.identity.process = itself.process;
  return {std::move(container.identity), container.held_back};
}

PodIdentity ProcessOwners::of_process(pid_t pid) const { return owners_.at(pid).identity; }

PodIdentity ProcessOwners::of_loop(pid_t pid, pid_t tid) const {
  const PodIdentity& owner = owners_.at(pid).identity;
  return grouping_ == Grouping::loop ? loop_identity(owner, pid, tid) : owner;
}

}  // namespace uvtap
