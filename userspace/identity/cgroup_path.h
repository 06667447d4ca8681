// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace uvtap {

/// Which container a process runs in, and in which pod, as its cgroup says. Either may be empty.
struct CgroupContainer {
  /// With dashes; for a static pod 32 digits without (its kubernetes.io/config.hash).
  std::string pod_uid;
  std::string container_id;  ///< 64 hexadecimal digits
  bool operator==(const CgroupContainer&) const = default;
};

/// Reads the text of /proc/PID/cgroup, of cgroup v1, v2 or both, with cgroupfs or systemd names.
/// Only what the segments of a path say counts, not where they stand: a reader in a cgroup
/// namespace of its own sees the paths of others relative to itself. What is not a container gives
/// nothing.
///
/// A container may name the cgroups it makes as it likes. They stand below its own, so the first
/// pod from the left counts, and the first container after it.
[[nodiscard]] CgroupContainer parse_cgroup(std::string_view text);

}  // namespace uvtap
