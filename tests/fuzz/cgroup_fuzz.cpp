// SPDX-License-Identifier: Apache-2.0
// /proc/PID/cgroup: below its own cgroup a container names what it makes as it likes.
#include <fmt/core.h>

#include <algorithm>

#include "tests/fuzz/fuzz.h"
#include "userspace/identity/cgroup_path.h"
#include "userspace/identity/container_id.h"

using namespace uvtap;
using fuzz::require;

namespace {

constexpr std::string_view pod = "0a1b2c3d-1111-4222-8333-444455556666";
constexpr std::string_view container =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

void check(const CgroupContainer& found) {
  require(found.container_id.empty() || is_container_id(found.container_id), "an id or nothing");
  require(found.pod_uid.empty() || is_hex(found.pod_uid, 32) ||
              (found.pod_uid.size() == 36 && std::ranges::count(found.pod_uid, '-') == 4),
          "a uid or nothing");
}

/// Whatever a container's own cgroups are called, it stays who it is.
void check_below(std::string_view own, std::string_view text) {
  const CgroupContainer expected{.pod_uid = std::string(pod),
                                 .container_id = std::string(container)};
  for (const std::string_view tail : fuzz::split(text, '\n'))
    require(parse_cgroup(fmt::format("0::{}/{}\n", own, tail)) == expected, "no other's identity");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::Input(data, size).text();
  check(parse_cgroup(text));
  check_below(fmt::format("/kubepods/burstable/pod{}/{}", pod, container), text);
  std::string slice(pod);
  std::ranges::replace(slice, '-', '_');
  check_below(
      fmt::format("/kubepods.slice/kubepods-pod{}.slice/cri-containerd-{}.scope", slice, container),
      text);
  return 0;
}
