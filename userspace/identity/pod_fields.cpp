// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/pod_fields.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "userspace/identity/workload_name.h"

namespace uvtap {
namespace {

bool is_container_status(std::string_view path) {
  return path == "status/containerStatuses[]" || path == "status/initContainerStatuses[]" ||
         path == "status/ephemeralContainerStatuses[]";
}

/// "containerd://<id>" → "<id>"
std::string_view without_scheme(std::string_view container_id) {
  const size_t separator = container_id.find("://");
  return separator == std::string_view::npos ? container_id : container_id.substr(separator + 3);
}

}  // namespace

const PodFields::Field PodFields::fields[] = {
    {"metadata/uid", &PodFields::uid_},
    {"metadata/namespace", &PodFields::namespace_},
    {"metadata/name", &PodFields::name_},
    {"metadata/resourceVersion", &PodFields::version_},
    {"metadata/labels/pod-template-hash", &PodFields::template_hash_},
    {"metadata/ownerReferences[]/kind", &PodFields::owner_kind_},
    {"metadata/ownerReferences[]/name", &PodFields::owner_name_},
    {"metadata/ownerReferences[]/controller", &PodFields::owner_is_controller_},
    {"status/containerStatuses[]/name", &PodFields::container_name_},
    {"status/containerStatuses[]/containerID", &PodFields::container_id_},
    {"status/initContainerStatuses[]/name", &PodFields::container_name_},
    {"status/initContainerStatuses[]/containerID", &PodFields::container_id_},
    {"status/ephemeralContainerStatuses[]/name", &PodFields::container_name_},
    {"status/ephemeralContainerStatuses[]/containerID", &PodFields::container_id_},
};

void PodFields::value(std::string_view path, const std::string& text) {
  if (text.size() > max_field_bytes) return;
  const auto* field = std::ranges::find(fields, path, &Field::path);
  if (field != std::end(fields)) this->*field->text = text;
}

void PodFields::object_ends(std::string_view path) {
  if (path == "metadata/ownerReferences[]") owner_ends();
  if (is_container_status(path)) container_ends();
}

void PodFields::owner_ends() {
  if (owner_is_controller_ == "true") {
    controller_kind_ = owner_kind_;
    controller_name_ = owner_name_;
  }
  owner_kind_.clear();
  owner_name_.clear();
  owner_is_controller_.clear();
}

void PodFields::container_ends() {
  // A container that has not been created yet has no id.
  const std::string_view id = without_scheme(container_id_);
  if (!id.empty() && !container_name_.empty() && containers_.size() < max_containers)
    containers_.insert_or_assign(std::string(id), container_name_);
  container_name_.clear();
  container_id_.clear();
}

KnownPod PodFields::take() {
  Workload workload = workload_behind(controller_kind_, controller_name_, template_hash_);
  KnownPod pod{.uid = std::move(uid_),
               .namespace_ = std::move(namespace_),
               .name = std::move(name_),
               .workload_kind = std::move(workload.kind),
               .workload = std::move(workload.name),
               .containers = std::move(containers_)};
  *this = {};
  return pod;
}

}  // namespace uvtap
