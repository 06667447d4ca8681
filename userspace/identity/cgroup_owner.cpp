// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/cgroup_owner.h"

#include <fmt/core.h>

#include <algorithm>

#include "userspace/identity/cgroup_path.h"
#include "userspace/util/take_text.h"

namespace uvtap {
namespace {

/// Lines are "number:controllers:path": the paths, but those of the root.
std::string paths_below_root(std::string_view cgroup) {
  std::string paths;
  while (!cgroup.empty()) {
    std::string_view line = take_until(cgroup, '\n');
    take_until(line, ':');
    take_until(line, ':');
    if (line.size() <= 1 || paths.find(line) != std::string::npos) continue;
    if (!paths.empty()) paths += ' ';
    paths += line;
  }
  return paths;
}

}  // namespace

std::string owner_by_cgroup(std::string_view cgroup, pid_t pid) {
  const CgroupContainer container = parse_cgroup(cgroup);
  if (!container.container_id.empty()) return "container " + container.container_id;
  if (!container.pod_uid.empty()) return "pod " + container.pod_uid;
  const std::string paths = paths_below_root(cgroup);
  if (!paths.empty()) return "cgroup " + paths;
  return fmt::format("process {}", pid);
}

}  // namespace uvtap
