// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/kernel_limits.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string>

#include "userspace/discovery/bounded_file.h"
#include "userspace/probes/private_mount.h"

namespace uvtap {
namespace {

constexpr const char* lockdown_path = "/sys/kernel/security/lockdown";
constexpr std::array all_lockdowns = {Lockdown::none, Lockdown::integrity,
                                      Lockdown::confidentiality};

std::optional<Lockdown> lockdown_called(std::string_view name) {
  for (const Lockdown each : all_lockdowns)
    if (to_string(each) == name) return each;
  return std::nullopt;
}

std::string read_short(int file) {
  std::array<char, 128> text{};
  const ssize_t length = read(file, text.data(), text.size());
  return {text.data(), length > 0 ? static_cast<size_t>(length) : 0};
}

/// A kernel without lockdown has securityfs without that file, or no securityfs.
std::optional<Lockdown> read_privately() {
  const auto root = mount_privately("securityfs");
  if (!root) return root.error().number == ENODEV ? std::optional(Lockdown::none) : std::nullopt;
  const UniqueFd file(openat(root->get(), "lockdown", O_RDONLY | O_CLOEXEC));
  return file.valid() ? parse_lockdown(read_short(file.get())) : Lockdown::none;
}

std::optional<Lockdown> guess() {
  const auto command_line = read_bounded("/proc/cmdline", 4096);
  return command_line ? parse_lockdown_parameter(*command_line) : std::nullopt;
}

}  // namespace

std::string_view to_string(Lockdown lockdown) {
  switch (lockdown) {
    case Lockdown::none:
      return "none";
    case Lockdown::integrity:
      return "integrity";
    case Lockdown::confidentiality:
      return "confidentiality";
  }
  return "";
}

std::optional<Lockdown> parse_lockdown(std::string_view text) {
  const size_t begin = text.find('[');
  const size_t end = text.find(']', begin == text.npos ? 0 : begin);
  if (begin == text.npos || end == text.npos) return std::nullopt;
  return lockdown_called(text.substr(begin + 1, end - begin - 1));
}

std::optional<Lockdown> parse_lockdown_parameter(std::string_view command_line) {
  constexpr std::string_view name = "lockdown=";
  std::optional<Lockdown> last;
  while (!command_line.empty()) {
    const std::string_view word = command_line.substr(0, command_line.find_first_of(" \n"));
    if (word.starts_with(name))
      if (const auto value = lockdown_called(word.substr(name.size()))) last = value;
    command_line.remove_prefix(std::min(command_line.size(), word.size() + 1));
  }
  return last;
}

LockdownState lockdown_state() {
  if (const UniqueFd file(open(lockdown_path, O_RDONLY | O_CLOEXEC)); file.valid())
    if (const auto shown = parse_lockdown(read_short(file.get()))) return {shown};
  if (const auto shown = read_privately()) return {shown};
  return {guess(), true};
}

std::optional<int> perf_event_paranoid() {
  const auto text = read_bounded("/proc/sys/kernel/perf_event_paranoid", 64);
  int level = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), level).ec != std::errc{})
    return std::nullopt;
  return level;
}

bool is_filtered_by_seccomp() { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER; }

bool in_user_namespace() {
  // The first one maps every id to itself: "0 0 4294967295".
  const auto map = read_bounded("/proc/self/uid_map", 4096);
  return map && map->find("4294967295") == map->npos;
}

bool has_uprobe_events() { return access("/sys/bus/event_source/devices/uprobe/type", F_OK) == 0; }

}  // namespace uvtap
