// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "userspace/config.h"

namespace uvtap {

/// One setting: the flag --name, the variable UVTAP_NAME, and what to do with its text.
struct Setting {
  std::string_view name;
  std::string_view argument;  ///< what the help calls the value; empty for a switch
  std::string_view purpose;
  std::string_view accepts;
  std::string_view default_text;
  std::span<const Command> commands;  ///< which have it
  /// Stores the value; false where it is not accepted.
  bool (*apply)(std::string_view value, Config& config);

  [[nodiscard]] std::string flag() const;      ///< "--log-level"
  [[nodiscard]] std::string variable() const;  ///< "UVTAP_LOG_LEVEL"
  [[nodiscard]] std::string help() const;
  [[nodiscard]] bool belongs_to(Command command) const;
};

/// What Kubernetes tells a pod of the cluster, by a variable that is not ours to name.
struct ClusterVariable {
  std::string_view name;
  std::string_view accepts;
  bool (*apply)(std::string_view value, Config& config);
};
[[nodiscard]] std::span<const ClusterVariable> cluster_variables();

/// All of them, in the order the help shows.
[[nodiscard]] std::span<const Setting> settings();

}  // namespace uvtap
