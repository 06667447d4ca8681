// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/tracefs.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <map>
#include <string>

#include "userspace/probes/private_mount.h"
#include "userspace/util/unique_fd.h"

namespace uvtap {
namespace {

struct Tracefs {
  UniqueFd root;
  std::string_view place;
};

Result<UniqueFd> private_mount() {
  auto root = mount_privately("tracefs");
  if (root) return std::move(*root);
  const auto& [what, number] = root.error();
  if (number == EPERM)
    return fail("tracefs is not mounted, and a private mount of it takes CAP_SYS_ADMIN");
  if (number == ENODEV)
    return fail("this kernel has no tracefs (built without CONFIG_FTRACE): use another front door");
  return fail_errno(number, "tracefs is not mounted and cannot be {}", what);
}

Result<Tracefs> open_tracefs() {
  for (const char* place : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    UniqueFd root(open(place, O_DIRECTORY | O_RDONLY | O_CLOEXEC));
    if (root.valid() && faccessat(root.get(), "events/syscalls", X_OK, AT_EACCESS) == 0)
      return Tracefs{std::move(root), place};
  }
  auto root = private_mount();
  if (!root) return std::unexpected(root.error());
  return Tracefs{std::move(*root), private_tracefs};
}

Result<uint64_t> read_tracepoint_id(std::string_view event_name) {
  auto tracefs = open_tracefs();
  if (!tracefs) return std::unexpected(tracefs.error());
  auto path = fmt::format("events/syscalls/{}/id", event_name);
  UniqueFd file(openat(tracefs->root.get(), path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() && errno == EACCES)
    return fail("tracefs opens for uid 0 only, or with CAP_DAC_READ_SEARCH");
  if (!file.valid())
    return fail_errno(errno, "this kernel has no tracepoint {} (CONFIG_FTRACE_SYSCALLS)",
                      event_name);
  std::array<char, 32> text{};
  ssize_t length = read(file.get(), text.data(), text.size());
  uint64_t id = 0;
  if (length <= 0 || std::from_chars(text.data(), text.data() + length, id).ec != std::errc{})
    return fail("the tracepoint {} has no number", event_name);
  return id;
}

}  // namespace

Result<uint64_t> syscall_tracepoint_id(std::string_view event_name) {
  // A number stays for as long as the kernel runs, the privilege to ask for it may not.
  static std::map<std::string, uint64_t, std::less<>> known;
  if (auto found = known.find(event_name); found != known.end()) return found->second;
  auto id = read_tracepoint_id(event_name);
  if (id) known.emplace(event_name, *id);
  return id;
}

Result<std::string_view> tracefs_place() {
  auto tracefs = open_tracefs();
  if (!tracefs) return std::unexpected(tracefs.error());
  return tracefs->place;
}

}  // namespace uvtap
