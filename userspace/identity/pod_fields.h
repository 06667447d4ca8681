// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "userspace/identity/known_pod.h"

namespace uvtap {

/// Collects what is kept of a pod while a parser goes through its JSON. Paths are those of
/// JsonVisitor, from the pod on.
class PodFields {
 public:
  /// As long as a name in Kubernetes can be. What is longer is as if it were not there.
  static constexpr size_t max_field_bytes = 253;
  /// Containers beyond this are left out: they go by their id.
  static constexpr size_t max_containers = 1000;

  void value(std::string_view path, const std::string& text);
  void object_ends(std::string_view path);

  [[nodiscard]] const std::string& version() const { return version_; }
  /// The pod, once it is complete. Without a uid, a namespace or a name it is none.
  [[nodiscard]] KnownPod take();

 private:
  struct Field {
    std::string_view path;
    std::string PodFields::* text;
  };
  static const Field fields[];

  void owner_ends();
  void container_ends();

  std::string uid_;
  std::string namespace_;
  std::string name_;
  std::string version_;
  std::string template_hash_;
  std::string controller_kind_;
  std::string controller_name_;
  std::map<std::string, std::string> containers_;

  // of the owner reference and the container status that are being read
  std::string owner_kind_;
  std::string owner_name_;
  std::string owner_is_controller_;
  std::string container_name_;
  std::string container_id_;
};

}  // namespace uvtap
