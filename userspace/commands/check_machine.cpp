// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/check_machine.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>

#include "userspace/discovery/bounded_file.h"
#include "userspace/probes/tracefs.h"

namespace uvtap {
namespace {

constexpr KernelVersion oldest_kernel{5, 15};
constexpr const char* btf_path = "/sys/kernel/btf/vmlinux";
constexpr const char* paranoid_path = "/proc/sys/kernel/perf_event_paranoid";
/// PROC_PID_INIT_INO of linux/proc_ns.h: the same on every kernel since 3.8.
constexpr ino_t first_pid_namespace = 0xEFFFFFFC;
/// Above this level the kernel refuses tracepoints to those without CAP_PERFMON.
constexpr int open_to_all = -1;

constexpr const char* pid_namespace_remedy = "hostPID: true in Kubernetes, --pid=host with docker";
constexpr const char* root_remedy = "run as root, or with CAP_SYS_ADMIN and CAP_SYS_PTRACE";

Capabilities held_capabilities() {
  const auto status = read_bounded("/proc/self/status", 16384);
  return status ? parse_capabilities(*status).value_or(0) : 0;
}

bool in_first_pid_namespace() {
  struct stat own{};
  return stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == first_pid_namespace;
}

/// What most likely keeps a probe from working.
std::string door_remedy() {
  if (!in_first_pid_namespace()) return pid_namespace_remedy;
  if (!has_capability(held_capabilities(), CAP_SYS_ADMIN))
    return "CAP_SYS_ADMIN: to reach tracefs, and since mid-2025 to attach uprobes";
  return "another front door, if one works: --front-door auto finds it";
}

CheckLine ok(std::string what, std::string why) {
  return {Finding::ok, std::move(what), std::move(why), ""};
}

}  // namespace

CheckLine check_kernel() {
  utsname name{};
  uname(&name);
  const auto version = parse_kernel_version(name.release);
  if (version && *version >= oldest_kernel) return ok("kernel", name.release);
  return {Finding::no, "kernel", name.release, "Linux 5.15 or later"};
}

CheckLine check_btf() {
  if (access(btf_path, R_OK) == 0) return ok("BTF", btf_path);
  return {Finding::no, "BTF", fmt::format("{} cannot be read", btf_path),
          "a kernel built with CONFIG_DEBUG_INFO_BTF, as that of Debian 11+, Ubuntu 20.10+ or "
          "Amazon Linux 2023"};
}

CheckLine check_pid_namespace() {
  if (in_first_pid_namespace()) return ok("PID namespace", "the machine's own");
  return {Finding::no, "PID namespace", "a container's: the processes outside are not seen",
          pid_namespace_remedy};
}

CheckLine check_capabilities() {
  const auto missing = missing_capabilities(held_capabilities());
  if (missing.empty())
    return ok("capabilities", "CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYS_PTRACE");
  return {Finding::no, "capabilities", fmt::format("without {}", fmt::join(missing, ", ")),
          root_remedy};
}

CheckLine check_tracefs() {
  const auto place = tracefs_place();
  if (place) return ok("tracefs", std::string(*place));
  return {Finding::no, "tracefs", place.error().message,
          "run as root, or mount -t tracefs nodev /sys/kernel/tracing; only the front door "
          "tracepoint needs it"};
}

CheckLine check_perf_event_paranoid() {
  const auto text = read_bounded(paranoid_path, 64);
  int level = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), level).ec != std::errc{})
    return {Finding::skipped, "perf_event_paranoid", "this kernel does not have it", ""};
  if (may_use_perf(held_capabilities()))
    return ok("perf_event_paranoid", fmt::format("{}: does not matter with CAP_PERFMON", level));
  if (level <= open_to_all) return ok("perf_event_paranoid", fmt::to_string(level));
  return {Finding::no, "perf_event_paranoid", fmt::format("{}: probes are refused", level),
          root_remedy};
}

CheckLine check_bpf(const Result<BpfPrograms>& programs) {
  if (programs) return ok("BPF programs", "loaded");
  return {Finding::no, "BPF programs", programs.error().message, ""};
}

CheckLine check_lifecycle(BpfPrograms& programs) {
  const auto started = programs.start_lifecycle();
  if (started) return ok("process events", "exec, fork, exit and signals are reported");
  return {Finding::no, "process events", started.error().message, root_remedy};
}

CheckLine check_door(const DoorTrial& trial) {
  auto what = fmt::format("front door {}", to_string(trial.door));
  if (trial.seconds_per_hit)
    return ok(std::move(what), fmt::format("attached to itself, counted, detached: {:.2f} µs a hit",
                                           *trial.seconds_per_hit * 1e6));
  return {Finding::no, std::move(what), trial.seconds_per_hit.error().message, door_remedy()};
}

bool may_look_into_processes() { return has_capability(held_capabilities(), CAP_SYS_PTRACE); }

}  // namespace uvtap
