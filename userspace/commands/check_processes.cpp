// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/check_processes.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "userspace/commands/check_kubernetes.h"
#include "userspace/discovery/process_name.h"
#include "userspace/loops/loop_memory.h"
#include "userspace/probes/front_door.h"

namespace uvtap {
namespace {

constexpr size_t names_shown = 3;
constexpr const char* memory_remedy =
    "CAP_SYS_PTRACE, and kernel.yama.ptrace_scope below 3; without it the turn in progress and "
    "loops that wait are not seen";

struct SeenInMemory {
  std::string node_version;
  Result<void> readable;
};

SeenInMemory look_into_memory(pid_t pid, const ProbePlan& plan) {
  const ProcessMemory memory(pid);
  const auto word = memory.read_value<uint64_t>(plan.default_loop_pointer);
  return {.node_version = read_node_version(memory, plan.node_metadata).value_or(""),
          .readable = word ? Result<void>() : std::unexpected(word.error())};
}

void look_into_memory(pid_t pid, BoundedLooks& looks, CheckedProcess& process) {
  const auto seen = looks.look(pid, "its memory", [pid, plan = *process.outcome.plan] {
    return look_into_memory(pid, plan);
  });
  process.node_version = seen ? seen->node_version : "";
  process.memory_readable = seen ? seen->readable : fail("its memory does not answer");
}

bool has_ended(pid_t pid, const ProcFs& proc) {
  const auto stat = proc.process_stat(pid);
  return !stat || stat->ended();
}

/// Nothing where it has ended.
std::optional<std::string> name_of(pid_t pid, const ProcFs& proc, BoundedLooks& looks) {
  const auto arguments =
      looks.look(pid, "its command line", [pid, proc] { return proc.command_line(pid); });
  if (!arguments) return fmt::format("pid {}", pid);
  if (!*arguments) return std::nullopt;
  return fmt::format("{}/{}", display_name(**arguments), pid);
}

void inspect(pid_t pid, const ProcFs& proc, PatientInspector& inspector, BoundedLooks& looks,
             PodSources& sources, CheckedProcesses& processes) {
  const auto outcome =
      inspector.inspect(pid).value_or(fail("its files or its memory do not answer"));
  const auto name = name_of(pid, proc, looks);
  if (!name) return;
  CheckedProcess process{.name = *name,
                         .container = container_name(pid, proc, sources),
                         .outcome = outcome.value_or(PlanOutcome{}),
                         .node_version = ""};
  if (!outcome && !has_ended(pid, proc)) {
    processes.unreadable.push_back(std::move(process.name));
    processes.unreadable_why = outcome.error().message;
  }
  if (process.outcome.plan) look_into_memory(pid, looks, process);
  if (process.outcome.plan || process.outcome.unsupported)
    processes.known.push_back(std::move(process));
}

bool is_observable(const CheckedProcess& process) { return process.outcome.plan.has_value(); }

}  // namespace

Result<CheckedProcesses> inspect_processes(const ProcFs& proc, PatientInspector& inspector,
                                           BoundedLooks& looks, PodSources& sources) {
  const auto pids = proc.list_pids();
  if (!pids) return std::unexpected(pids.error());
  CheckedProcesses processes;
  for (const pid_t pid : *pids) inspect(pid, proc, inspector, looks, sources, processes);
  return processes;
}

CheckLine check_memory(const std::vector<CheckedProcess>& processes) {
  const auto seen = std::ranges::find_if(processes, is_observable);
  if (seen == processes.end())
    return {Finding::skipped, "reading memory", "there is no Node.js process to try it on", ""};
  const auto refused = std::ranges::find_if(processes, [](const CheckedProcess& process) {
    return is_observable(process) && !process.memory_readable;
  });
  if (refused == processes.end())
    return {Finding::ok, "reading memory", "of every Node.js process", ""};
  return {Finding::no, "reading memory", refused->memory_readable.error().message, memory_remedy};
}

CheckLine check_process(const CheckedProcess& process) {
  if (const auto& unsupported = process.outcome.unsupported) {
    const bool is_node = unsupported->reason != "not_node";
    return {is_node ? Finding::no : Finding::skipped, process.name, unsupported->message, ""};
  }
  const ProbePlan& plan = *process.outcome.plan;
  auto why = fmt::format("Node.js {}, libuv {}, through {}",
                         process.node_version.empty() ? "(version unknown)" : process.node_version,
                         to_string(plan.libuv_version), to_string(plan.door));
  if (!process.container.empty()) why += "; in " + process.container;
  if (process.memory_readable) return {Finding::ok, process.name, std::move(why), ""};
  return {Finding::no, process.name, why + "; its memory cannot be read", memory_remedy};
}

CheckLine check_unreadable(const CheckedProcesses& processes) {
  const auto& names = processes.unreadable;
  const auto shown = std::min(names.size(), names_shown);
  return {
      Finding::no, names.size() == 1 ? "1 process" : fmt::format("{} processes", names.size()),
      fmt::format("may be Node.js, but cannot be looked into: {}{} ({})",
                  fmt::join(std::span(names).first(shown), ", "), shown < names.size() ? ", …" : "",
                  processes.unreadable_why),
      "CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE for libraries deleted or replaced while they run, "
      "CAP_DAC_READ_SEARCH for files that only their owner may read"};
}

}  // namespace uvtap
