// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "userspace/config.h"
#include "userspace/identity/container_logs.h"
#include "userspace/identity/kube_watch.h"
#include "userspace/identity/pod_directory.h"
#include "userspace/identity/pod_resolver.h"
#include "userspace/util/result.h"

namespace uvtap {

/// Where the names of pods come from on this machine, as --kubernetes chooses. The API server is
/// listened to by a thread of its own.
class PodSources {
 public:
  /// An error where a source that was asked for by name is not to be had.
  static Result<std::unique_ptr<PodSources>> start(const KubernetesSettings& settings);

  /// Whether there is anything to ask. The lookups are valid while this lives.
  [[nodiscard]] bool any() const { return watch_ || logs_; }
  [[nodiscard]] bool is_off() const { return is_off_; }
  [[nodiscard]] bool has_files() const { return logs_.has_value(); }
  /// How the API server does; waits a little for its first answer. None where it is not asked.
  [[nodiscard]] std::optional<KubeWatch::State> first_api_state() const;
  /// That the API server told of.
  [[nodiscard]] size_t pods() const { return directory_.pods(); }
  [[nodiscard]] IdentityLookups lookups();

  /// The best one that answers now: "api", "files" or "none"; "off" where that was chosen.
  [[nodiscard]] std::string_view current() const;
  /// Logs one line whenever that has changed.
  void say_changes();

  /// Failed requests to the API server, by reason.
  [[nodiscard]] std::map<std::string, uint64_t> errors() const;

 private:
  explicit PodSources(bool is_off) : is_off_(is_off) {}
  [[nodiscard]] bool api_is_near() const;

  bool is_off_;
  PodDirectory directory_;
  std::optional<ContainerLogs> logs_;
  std::unique_ptr<KubeWatch> watch_;  ///< writes to the directory
  std::string_view said_;
};

}  // namespace uvtap
