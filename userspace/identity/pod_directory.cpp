// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/pod_directory.h"

#include <utility>

namespace uvtap {

void PodDirectory::replace(std::vector<KnownPod> pods) {
  const std::scoped_lock lock(mutex_);
  pods_.clear();
  uid_of_id_.clear();
  for (auto& pod : pods) insert(std::move(pod));
}

bool PodDirectory::put(KnownPod pod) {
  const std::scoped_lock lock(mutex_);
  return insert(std::move(pod));
}

void PodDirectory::remove(const std::string& uid) {
  const std::scoped_lock lock(mutex_);
  erase(uid);
}

bool PodDirectory::insert(KnownPod pod) {
  erase(pod.uid);
  if (pods_.size() >= max_pods) return false;
  for (const auto& [id, name] : pod.containers) uid_of_id_.insert_or_assign(id, pod.uid);
  const std::string uid = pod.uid;
  pods_.insert_or_assign(uid, std::move(pod));
  return true;
}

void PodDirectory::erase(const std::string& uid) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  for (const auto& [id, name] : pod->second.containers) {
    // Another pod may have claimed the container since: it keeps it.
    const auto owner = uid_of_id_.find(id);
    if (owner != uid_of_id_.end() && owner->second == uid) uid_of_id_.erase(owner);
  }
  pods_.erase(pod);
}

std::optional<PodIdentity> PodDirectory::find(std::string_view container_id) const {
  const std::scoped_lock lock(mutex_);
  const auto uid = uid_of_id_.find(container_id);
  if (uid == uid_of_id_.end()) return std::nullopt;
  const KnownPod& pod = pods_.at(uid->second);
  PodIdentity identity;
  identity.namespace_ = pod.namespace_;
  identity.pod = pod.name;
  identity.container = pod.containers.at(uid->first);
  identity.workload_kind = pod.workload_kind;
  identity.workload = pod.workload;
  return identity;
}

size_t PodDirectory::pods() const {
  const std::scoped_lock lock(mutex_);
  return pods_.size();
}

}  // namespace uvtap
