// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/check_kubernetes.h"

#include <fmt/core.h>

#include "userspace/identity/cgroup_path.h"

namespace uvtap {
namespace {

constexpr const char* what = "pod names";
/// As many digits as docker and crictl show.
constexpr size_t digits_shown = 12;

std::string stand_in(const PodSources& sources) {
  return sources.has_files() ? "the names of log files stand in, without workloads"
                             : "containers go by their ids";
}

}  // namespace

CheckLine check_pod_names(const PodSources& sources) {
  if (sources.is_off()) return {Finding::skipped, what, "off, as --kubernetes says", ""};
  const auto api = sources.first_api_state();
  if (!api && sources.has_files())
    return {Finding::skipped, what, "from the names of log files, without workloads",
            "in a pod of Kubernetes: NODE_NAME by the downward API, see docs/install.md"};
  if (!api) return {Finding::skipped, what, "no Kubernetes here, as far as can be seen", ""};
  if (api->synced && !api->failing)
    return {Finding::ok, what, fmt::format("from the API server: {} pods", sources.pods()), ""};
  const auto why = api->failing ? api->last_error : "it has not answered within 5 s";
  return {Finding::no, what, fmt::format("the API server: {}; {}", why, stand_in(sources)),
          "a network policy that lets uvtap reach it, and its ClusterRole: see docs/install.md"};
}

std::string container_name(pid_t pid, const ProcFs& proc, PodSources& sources) {
  const auto text = proc.cgroup(pid);
  if (!text) return {};
  const auto container = parse_cgroup(*text);
  if (container.container_id.empty()) return {};
  const auto lookups = sources.lookups();
  auto identity = lookups.api(container.container_id);
  if (!identity) identity = lookups.files(container.container_id);
  if (!identity) return "container " + container.container_id.substr(0, digits_shown);
  return fmt::format("{}/{}/{}", identity->namespace_, identity->pod, identity->container);
}

}  // namespace uvtap
