// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "userspace/identity/pod_identity.h"

namespace uvtap {

struct NamedContainer {
  std::string id;
  PodIdentity identity;  ///< namespace, pod and container
};

/// Reads the name of a log file that the kubelet makes: "<pod>_<namespace>_<container>-<id>.log".
/// Nothing where it is none.
[[nodiscard]] std::optional<NamedContainer> parse_log_name(std::string_view name);

/// The containers of this node by the names of their log files. The files are not opened.
class ContainerLogs {
 public:
  /// Most often /var/log/containers.
  explicit ContainerLogs(std::string directory) : directory_(std::move(directory)) {}

  /// Whether the directory is there and can be listed.
  [[nodiscard]] bool available() const;
  /// Lists the directory anew for an id it does not know, but at most once a second.
  [[nodiscard]] std::optional<PodIdentity> find(const std::string& container_id, uint64_t now_ns);

 private:
  void list(uint64_t now_ns);

  std::string directory_;
  std::map<std::string, PodIdentity> by_id_;
  uint64_t next_list_ns_ = 0;
};

}  // namespace uvtap
