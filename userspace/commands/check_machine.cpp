// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/check_machine.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "userspace/probes/kernel_limits.h"
#include "userspace/probes/privileges.h"
#include "userspace/probes/tracefs.h"

namespace uvtap {
namespace {

constexpr KernelVersion oldest_kernel{5, 15};
constexpr const char* btf_path = "/sys/kernel/btf/vmlinux";
/// PROC_PID_INIT_INO of linux/proc_ns.h: the same on every kernel since 3.8.
constexpr ino_t first_pid_namespace = 0xEFFFFFFC;
/// perf_event_paranoid: up to here the kernel gives tracepoints to everybody, and up to there to
/// those with CAP_PERFMON. The kernels of Debian and Ubuntu have higher levels than 2.
constexpr int open_to_all = -1;
constexpr int open_to_perfmon = 2;

constexpr const char* pid_namespace_remedy = "hostPID: true in Kubernetes, --pid=host with docker";

bool in_first_pid_namespace() {
  struct stat own{};
  return stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == first_pid_namespace;
}

/// Where a probe is attached and not hit. Where it is refused, the refusal itself tells.
std::string door_remedy() { return in_first_pid_namespace() ? "" : pid_namespace_remedy; }

std::string what_needs(UprobeWay way) {
  if (way == UprobeWay::uprobe_multi) return "CAP_BPF and CAP_PERFMON suffice for them";
  return "they need CAP_SYS_ADMIN, on kernels before mid-2025 CAP_BPF and CAP_PERFMON";
}

bool works(const DoorTrial& trial) { return trial.seconds_per_hit.has_value(); }
bool is_uprobe(const DoorTrial& trial) { return trial.door != FRONT_DOOR_TRACEPOINT; }
bool is_working_uprobe(const DoorTrial& trial) { return is_uprobe(trial) && works(trial); }

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
  const auto held = effective_capabilities();
  const auto missing = missing_capabilities(held);
  if (missing.empty()) return ok("capabilities", to_string(held & usable_capabilities));
  return {Finding::no, "capabilities", fmt::format("without {}", to_string(missing)),
          sufficient_capabilities};
}

CheckLine check_lockdown() {
  const auto state = lockdown_state();
  if (!state.lockdown)
    return {Finding::skipped, "lockdown", "securityfs (/sys/kernel/security) cannot be read", ""};
  auto why = std::string(to_string(*state.lockdown));
  if (state.guessed) why += ", by the kernel's command line: securityfs cannot be read";
  if (state.lockdown != Lockdown::confidentiality) return ok("lockdown", std::move(why));
  return {Finding::skipped, "lockdown", why + "; only the front door tracepoint minds",
          "another front door, or lockdown=integrity on the kernel's command line"};
}

CheckLine check_tracefs() {
  if (lockdown_state().lockdown == Lockdown::confidentiality)
    return {Finding::skipped, "tracefs", "hidden by lockdown", ""};
  const auto place = tracefs_place();
  if (place) return ok("tracefs", std::string(*place));
  const std::string& why = place.error().message;
  const bool can_be_mounted = why.starts_with("tracefs is not mounted");
  return {Finding::skipped, "tracefs", why + "; only the front door tracepoint needs it",
          can_be_mounted ? "mount -t tracefs nodev /sys/kernel/tracing" : ""};
}

CheckLine check_perf_event_paranoid() {
  const auto known = perf_event_paranoid();
  if (!known) return {Finding::skipped, "perf_event_paranoid", "this kernel does not have it", ""};
  const int level = *known;
  const auto held = effective_capabilities();
  const auto does_not_matter_with = [&](const char* capability) {
    return ok("perf_event_paranoid", fmt::format("{}: does not matter with {}", level, capability));
  };
  if (held.has(CAP_SYS_ADMIN)) return does_not_matter_with("CAP_SYS_ADMIN");
  if (level <= open_to_all) return ok("perf_event_paranoid", fmt::format("{}", level));
  if (!held.has(CAP_PERFMON))
    return {Finding::no, "perf_event_paranoid", fmt::format("{}: probes are refused", level),
            sufficient_capabilities};
  if (level <= open_to_perfmon) return does_not_matter_with("CAP_PERFMON");
  return {
      Finding::skipped, "perf_event_paranoid",
      fmt::format("{}: some kernels refuse perf events then; uprobe_multi links need none", level),
      "CAP_SYS_ADMIN, or sysctl kernel.perf_event_paranoid=2"};
}

CheckLine check_bpf(const Result<BpfPrograms>& programs) {
  if (programs) return ok("BPF programs", "loaded");
  return {Finding::no, "BPF programs", programs.error().message, ""};
}

CheckLine check_lifecycle(BpfPrograms& programs) {
  const auto started = programs.start_lifecycle();
  if (started) return ok("process events", "exec, fork, exit and signals are reported");
  return {Finding::no, "process events", started.error().message, ""};
}

CheckLine check_uprobes(UprobeWay way, const std::vector<DoorTrial>& trials) {
  if (std::ranges::any_of(trials, is_working_uprobe))
    return ok("uprobes", fmt::format("by {}; {}", to_string(way), what_needs(way)));
  const auto refused = std::ranges::find_if(trials, is_uprobe);
  return {std::ranges::any_of(trials, works) ? Finding::skipped : Finding::no, "uprobes",
          fmt::format("by {}; {}", to_string(way), refused->seconds_per_hit.error().message),
          door_remedy()};
}

CheckLine check_door(const DoorTrial& trial, bool another_works) {
  auto what = fmt::format("front door {}", to_string(trial.door));
  if (trial.seconds_per_hit)
    return ok(std::move(what), fmt::format("attached to itself, counted, detached: {:.2f} µs a hit",
                                           *trial.seconds_per_hit * 1e6));
  return {another_works ? Finding::skipped : Finding::no, std::move(what),
          trial.seconds_per_hit.error().message, door_remedy()};
}

bool may_look_into_processes() { return effective_capabilities().has(CAP_SYS_PTRACE); }

}  // namespace uvtap
