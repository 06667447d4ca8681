// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/cgroup_path.h"

#include <algorithm>
#include <array>

#include "userspace/identity/container_id.h"
#include "userspace/util/take_text.h"

namespace uvtap {
namespace {

constexpr size_t static_pod_uid_length = 32;
/// 8-4-4-4-12 hexadecimal digits.
constexpr size_t pod_uid_length = 36;
constexpr std::array<size_t, 4> pod_uid_dashes = {8, 13, 18, 23};

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

/// A pod's uid; the systemd driver writes '_' for '-', which separates slices there.
std::string pod_uid(std::string_view text) {
  if (is_hex(text, static_pod_uid_length)) return std::string(text);
  if (text.size() != pod_uid_length) return {};
  std::string uid(text);
  std::ranges::replace(uid, '_', '-');
  std::string digits = uid;
  for (const size_t at : pod_uid_dashes) {
    if (digits[at] != '-') return {};
    digits[at] = '0';
  }
  return is_hex(digits, pod_uid_length) ? uid : std::string{};
}

/// "pod<uid>", or "<any slices>-pod<uid>.slice".
std::string pod_uid_of_segment(std::string_view segment) {
  constexpr std::string_view mark = "pod";
  if (take_suffix(segment, ".slice")) {
    const size_t at = segment.rfind("-pod");
    if (at == std::string_view::npos) return {};
    segment.remove_prefix(at + 1);
  }
  if (!segment.starts_with(mark)) return {};
  return pod_uid(segment.substr(mark.size()));
}

/// "<id>", "<runtime>-<id>" or "<runtime>-<id>.scope", whatever the runtime is called. The monitor
/// that CRI-O and podman start beside a container bears its id too.
std::string container_id_of_segment(std::string_view segment) {
  take_suffix(segment, ".scope");
  if (segment.size() < container_id_length) return {};
  const std::string_view id = segment.substr(segment.size() - container_id_length);
  const std::string_view runtime = segment.substr(0, segment.size() - container_id_length);
  if (!is_container_id(id)) return {};
  if (!runtime.empty() && !runtime.ends_with('-')) return {};
  if (runtime.ends_with("conmon-")) return {};
  return std::string(id);
}

/// Adds what one segment says to what stands left of it. A pod makes whatever contains it (the
/// node of kind or minikube is a container too) not matter.
void add_segment(std::string_view segment, CgroupContainer& found) {
  if (found.pod_uid.empty()) {
    if (auto uid = pod_uid_of_segment(segment); !uid.empty()) {
      found = {.pod_uid = std::move(uid), .container_id = {}};
      return;
    }
  }
  if (found.container_id.empty()) found.container_id = container_id_of_segment(segment);
}

CgroupContainer parse_path(std::string_view path) {
  take_suffix(path, " (deleted)");
  CgroupContainer found;
  while (!path.empty()) {
    // containerd has systemd's names in one segment where the driver is cgroupfs:
    // "<slice>:cri-containerd:<id>"
    std::string_view segment = take_until(path, '/');
    while (!segment.empty()) add_segment(take_until(segment, ':'), found);
  }
  return found;
}

int rank(const CgroupContainer& found) {
  return (found.pod_uid.empty() ? 0 : 2) + (found.container_id.empty() ? 0 : 1);
}

}  // namespace

CgroupContainer parse_cgroup(std::string_view text) {
  CgroupContainer best;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    take_until(line, ':');  // the number of the hierarchy
    take_until(line, ':');  // its controllers
    CgroupContainer found = parse_path(line);
    if (rank(found) > rank(best)) best = std::move(found);
  }
  return best;
}

}  // namespace uvtap
