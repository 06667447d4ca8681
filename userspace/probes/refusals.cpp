// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/refusals.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "userspace/probes/kernel_limits.h"
#include "userspace/probes/privileges.h"

namespace uvtap {
namespace {

/// perf_event_paranoid: up to here CAP_PERFMON is enough. The kernels of Debian and Ubuntu have
/// higher levels, at which they ask for CAP_SYS_ADMIN.
constexpr int open_to_perfmon = 2;

bool is_permission(int error_number) { return error_number == EPERM || error_number == EACCES; }

bool is_confidential() { return lockdown_state().lockdown == Lockdown::confidentiality; }

std::string seccomp_forbids(const char* call) {
  return fmt::format(
      "a seccomp profile forbids {} though the capabilities are held: use one that allows it "
      "(seccompProfile Unconfined in Kubernetes, --security-opt seccomp=unconfined)",
      call);
}

/// The capabilities are held, no filter of seccomp is known, and still.
std::string someone_forbids(int error_number) {
  return fmt::format(
      "{} though the capabilities are held: look for a security module (AppArmor, SELinux) in the "
      "kernel's log",
      std::strerror(error_number));
}

bool may_open_perf_events() {
  const auto held = effective_capabilities();
  return held.has(CAP_SYS_ADMIN) || held.has(CAP_PERFMON);
}

}  // namespace

std::string why_bpf_is_refused(int error_number) {
  if (error_number == ENOSYS && !is_filtered_by_seccomp())
    return "this kernel has no bpf(2): use one built with CONFIG_BPF_SYSCALL, as that of Debian, "
           "Ubuntu or Amazon Linux";
  if (error_number != EPERM && error_number != ENOSYS) return std::strerror(error_number);
  if (!may_use_bpf(effective_capabilities()))
    return fmt::format("not permitted to load BPF programs: {}", sufficient_capabilities);
  if (in_user_namespace())
    return "the kernel forbids bpf(2) to the root of a user namespace: run without one "
           "(hostUsers: true in Kubernetes, --userns=host with docker)";
  if (is_filtered_by_seccomp()) return seccomp_forbids("bpf(2)");
  if (is_confidential())
    return "the kernel forbids bpf(2) in lockdown (confidentiality): boot with lockdown=integrity";
  return fmt::format("the kernel forbids bpf(2): {}", someone_forbids(error_number));
}

std::string why_programs_are_refused(int error_number) {
  if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
    return "no BTF of this kernel (/sys/kernel/btf/vmlinux): uvtap needs one built with "
           "CONFIG_DEBUG_INFO_BTF, as that of Debian 11+, Ubuntu 20.10+ or Amazon Linux 2023";
  // EACCES is the verifier's.
  if (error_number == EPERM || error_number == ENOSYS) return why_bpf_is_refused(error_number);
  if (error_number == ESRCH)
    return "this kernel lacks a tracepoint of processes or signals (sched_process_exec, "
           "sched_process_fork, sched_process_exit, signal_deliver), or its BTF does: use one "
           "built with CONFIG_TRACEPOINTS, as that of Debian, Ubuntu or Amazon Linux";
  const char* lockdown = is_confidential() ? " in lockdown (confidentiality)" : "";
  return fmt::format(
      "the kernel refuses the BPF programs{}: {} (--log-level debug shows its words)", lockdown,
      std::strerror(error_number));
}

std::string why_kernel_tracepoint_is_refused(int error_number) {
  if (error_number == EPERM || error_number == ENOSYS) return why_bpf_is_refused(error_number);
  return fmt::format(
      "{}: use a kernel built with CONFIG_TRACEPOINTS and CONFIG_BPF_EVENTS, as that of Debian, "
      "Ubuntu or Amazon Linux",
      std::strerror(error_number));
}

std::string why_uprobe_is_refused(int error_number, UprobeWay way) {
  if (way == UprobeWay::uprobe_multi)
    return is_permission(error_number) ? why_bpf_is_refused(EPERM) : std::strerror(error_number);
  if (!has_uprobe_events() && !is_permission(error_number))
    return "this kernel has no uprobes (built without CONFIG_UPROBE_EVENTS): use the front door "
           "tracepoint, or a kernel of Debian, Ubuntu or Amazon Linux";
  // Since mid-2025 kernels ask for it whatever perf_event_paranoid is, so that is no remedy here.
  if (error_number == EACCES && !effective_capabilities().has(CAP_SYS_ADMIN))
    return "this kernel gives uprobes by perf events to CAP_SYS_ADMIN only: grant it";
  return why_perf_event_is_refused(error_number);
}

std::string why_perf_event_is_refused(int error_number) {
  if (!is_permission(error_number)) return std::strerror(error_number);
  if (!may_open_perf_events())
    return fmt::format("not permitted to open perf events: {}", sufficient_capabilities);
  // The kernels with such levels say EACCES, a seccomp profile EPERM.
  const int paranoid = perf_event_paranoid().value_or(0);
  const bool admin = effective_capabilities().has(CAP_SYS_ADMIN);
  if (error_number == EACCES && !admin && paranoid > open_to_perfmon)
    return fmt::format(
        "perf_event_paranoid is {}, at which this kernel gives perf events to CAP_SYS_ADMIN only: "
        "grant it, or sysctl kernel.perf_event_paranoid={}",
        paranoid, open_to_perfmon);
  if (is_filtered_by_seccomp() && error_number == EPERM)
    return seccomp_forbids("perf_event_open(2)");
  if (is_confidential())
    return "the kernel forbids perf events in lockdown (confidentiality): boot with "
           "lockdown=integrity";
  return someone_forbids(error_number);
}

std::string why_tracepoint_is_unknown(const std::string& seen) {
  if (!is_confidential()) return seen;
  return "the kernel hides tracefs in lockdown (confidentiality): use another front door, or boot "
         "with lockdown=integrity";
}

}  // namespace uvtap
