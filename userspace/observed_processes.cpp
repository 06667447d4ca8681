// SPDX-License-Identifier: Apache-2.0
#include "userspace/observed_processes.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "userspace/discovery/process_name.h"
#include "userspace/loops/loop_finder.h"
#include "userspace/loops/loop_memory.h"

namespace uvtap {
namespace {

/// A process may be seen before the dynamic linker has mapped its libraries, however long that
/// takes on a cold disk: looked at again after 1, 2, 4 and 8 s.
constexpr uint64_t first_interval_ns = 1'000'000'000;
constexpr uint64_t last_interval_ns = 8'000'000'000;

/// Outside of containers every process has a share of its own.
std::string share_name(const CgroupContainer& container) {
  return container.container_id.empty() ? "" : container.pod_uid + "/" + container.container_id;
}

}  // namespace

ObservedProcesses::ObservedProcesses(const ProcFs& proc, BpfPrograms& programs, LoopTable& table,
                                     MemoryDoor& memory_door, BoundedLooks& looks,
                                     DoorPreference doors)
    : proc_(&proc),
      programs_(&programs),
      table_(&table),
      memory_door_(&memory_door),
      looks_(&looks),
      inspector_(proc, programs.mapped_files(), std::move(doors), looks),
      attachments_(programs, looks) {}

void ObservedProcesses::appear(const ProcessId& id, uint64_t now_ns) {
  look(id, now_ns);
  if (!is_settled(id.pid)) second_looks_[id] = {now_ns + first_interval_ns, first_interval_ns};
}

bool ObservedProcesses::is_settled(pid_t pid) const {
  auto process = observed_.find(pid);
  return process != observed_.end() && !process->second.info.node_version.empty();
}

bool ObservedProcesses::has_ended(pid_t pid) const {
  const auto stat = proc_->process_stat(pid);
  return !stat || stat->ended();
}

void ObservedProcesses::leave(const ProcessId& id) {
  second_looks_.erase(id);
  refused_.erase(id);
  not_looked_into_.erase(id);
  unsupported_.erase(id.pid);
  const auto process = observed_.find(id.pid);
  if (process == observed_.end()) return;
  programs_->forget(id.pid);
  table_->shares().leave(process->second.owner);
  observed_.erase(process);
  attachments_.detach(id.pid);
  memory_door_->forget(id.pid);
  spdlog::debug("pid {}: gone", id.pid);
}

void ObservedProcesses::look_again(uint64_t now_ns) {
  std::vector<ProcessId> due;
  for (auto& [id, second_look] : second_looks_)
    if (second_look.due_ns <= now_ns) due.push_back(id);
  for (const auto& id : due) {
    look(id, now_ns);
    tell_why_not(id.pid, now_ns);
    SecondLook& again = second_looks_[id];
    again.interval_ns *= 2;
    if (not_looked_into_.contains(id))
      again.interval_ns = std::min(again.interval_ns, last_interval_ns);
    again.due_ns = now_ns + again.interval_ns;
    // What was refused is tried for as long as the process lives, though ever more rarely.
    const bool refused = refused_.contains(id) || not_looked_into_.contains(id);
    if (is_settled(id.pid) || (again.interval_ns > last_interval_ns && !refused))
      second_looks_.erase(id);
  }
}

void ObservedProcesses::look(const ProcessId& id, uint64_t now_ns) {
  if (auto known = observed_.find(id.pid); known != observed_.end())
    return read_version(known->second);
  auto looked = inspector_.inspect(id.pid);
  if (!looked) {
    not_looked_into_.insert(id);
    return;
  }
  not_looked_into_.erase(id);
  auto& outcome = *looked;
  if (!outcome) {
    pass_over(id, outcome.error(), now_ns);
  } else if (outcome->plan) {
    observe(id, *outcome->plan, now_ns);
    if (has_ended(id.pid)) leave(id);  // before BPF was told to report it
  } else if (outcome->unsupported) {
    unsupported_.insert_or_assign(id.pid, *outcome->unsupported);
  }
}

void ObservedProcesses::pass_over(const ProcessId& id, const Error& error, uint64_t now_ns) {
  if (has_ended(id.pid)) return;  // nothing is missed
  ++failures_["inspect"];
  log_.warn("inspect", now_ns,
            fmt::format("pid {} cannot be looked into: {}", id.pid, error.message));
}

void ObservedProcesses::observe(const ProcessId& id, const ProbePlan& plan, uint64_t now_ns) {
  table_->remove_process(id.pid);  // of a program that ran in this process before an exec
  const CgroupContainer container = container_of(id.pid);
  const auto owner = table_->shares().join(share_name(container));
  if (!owner) {
    refused_.insert(id);
    ++over_share_;
    return log_.warn("share", now_ns,
                     fmt::format("pid {} is not observed: {}", id.pid, owner.error().message));
  }
  if (auto started = start_observing(id.pid, plan, *owner); !started) {
    table_->shares().leave(*owner);
    refused_.insert(id);
    return fail_to("attach", id, started.error(), now_ns);
  }
  refused_.erase(id);
  unsupported_.erase(id.pid);
  ObservedProcess process{.id = id,
                          .plan = plan,
                          .name = "",
                          .info = {"", to_string(plan.libuv_version)},
                          .container = container,
                          .owner = *owner};
  find_running_loops(process, now_ns);
  read_name(process);
  read_version(process);
  const auto& version = process.info.node_version;
  spdlog::info("observing {}/{} (Node.js {}, libuv {}) through {}", process.name, id.pid,
               version.empty() ? "starting" : version, process.info.libuv_version,
               to_string(plan.door));
  observed_[id.pid] = std::move(process);
}

/// Node.js itself puts it there, some time after the process's start.
void ObservedProcesses::read_version(ObservedProcess& process) {
  const pid_t pid = process.id.pid;
  auto looked = looks_->look(pid, "its memory", [pid, metadata = process.plan.node_metadata] {
    return read_node_version(ProcessMemory(pid), metadata);
  });
  if (looked && *looked) process.info.node_version = std::move(**looked);
}

/// Its command line is a part of its memory.
void ObservedProcesses::read_name(ObservedProcess& process) {
  const pid_t pid = process.id.pid;
  const auto looked = looks_->look(pid, "its command line",
                                   [pid, proc = *proc_] { return proc.command_line(pid); });
  if (looked && *looked) process.name = display_name(**looked);
}

CgroupContainer ObservedProcesses::container_of(pid_t pid) const {
  const auto text = proc_->cgroup(pid);
  return text ? parse_cgroup(*text) : CgroupContainer{};
}

void ObservedProcesses::read_cgroups() {
  for (auto& [pid, process] : observed_) {
    const auto text = proc_->cgroup(pid);
    if (!text) continue;  // what cannot be read stays as it was
    if (auto container = parse_cgroup(*text); container != process.container)
      move_to(process, container);
  }
}

/// Its loops stay in the share that they were taken from. If there is no place in the other
/// container's, so do those to come.
void ObservedProcesses::move_to(ObservedProcess& process, const CgroupContainer& container) {
  process.container = container;
  const auto owner = table_->shares().join(share_name(container));
  if (!owner) return;
  table_->shares().leave(std::exchange(process.owner, *owner));
  if (auto told = tell_bpf(process); !told)
    spdlog::warn("pid {} stays in the share it was in: {}", process.id.pid, told.error().message);
}

Result<void> ObservedProcesses::start_observing(pid_t pid, const ProbePlan& plan, uint32_t owner) {
  if (auto told = programs_->observe(pid, describe(plan, owner)); !told) return told;
  auto attached = attachments_.attach(pid, plan);
  if (!attached) programs_->forget(pid);
  return attached;
}

void ObservedProcesses::find_running_loops(const ObservedProcess& process, uint64_t now_ns) {
  const pid_t pid = process.id.pid;
  const ProbePlan& plan = process.plan;
  if (plan.door == FRONT_DOOR_MEMORY) return memory_door_->observe(pid, plan);
  const auto found = looks_->look(
      pid, "its memory", [pid, plan, proc = *proc_, ms = programs_->delay_resolution_ms()] {
        return find_loops(pid, plan, proc, ms);
      });
  if (!found) return;
  for (auto slot : *found) {
    slot.owner = process.owner;
    if (auto added = table_->add(slot); !added)
      log_.warn("loop", now_ns,
                fmt::format("pid {}: a loop is not observed: {}", pid, added.error().message));
  }
}

Result<void> ObservedProcesses::tell_bpf(const ObservedProcess& process) {
  auto known = describe(process.plan, process.owner);
  if (process.is_spared) known.front_door = FRONT_DOOR_MEMORY;
  return programs_->observe(process.id.pid, known);
}

Result<void> ObservedProcesses::spare(pid_t pid) {
  auto& process = observed_.at(pid);
  process.is_spared = true;
  table_->set_door(pid, FRONT_DOOR_MEMORY);
  auto done = tell_bpf(process);
  if (done) done = attachments_.spare(pid, process.plan);
  if (!done) {
    process.is_spared = false;
    table_->set_door(pid, process.plan.door);
    if (auto told = tell_bpf(process); !told) return told;
    return done;
  }
  ProbePlan without_probe = process.plan;
  without_probe.door = FRONT_DOOR_MEMORY;
  memory_door_->adopt(pid, without_probe, table_->take_process(pid));
  return {};
}

Result<void> ObservedProcesses::restore(pid_t pid) {
  auto& process = observed_.at(pid);
  if (auto attached = attachments_.restore(pid, process.plan); !attached) return attached;
  for (auto slot : memory_door_->release(pid)) {
    slot.front_door = process.plan.door;
    if (auto added = table_->add(slot); !added)
      spdlog::warn("pid {}: a loop is not observed: {}", pid, added.error().message);
  }
  process.is_spared = false;
  return tell_bpf(process);
}

/// Told at the second look only: at the first one libuv may not be mapped yet.
void ObservedProcesses::tell_why_not(pid_t pid, uint64_t now_ns) {
  auto refused = unsupported_.find(pid);
  if (refused == unsupported_.end()) return;
  const auto& [reason, message] = refused->second;
  const auto line = fmt::format("pid {} is not observed: {}", pid, message);
  if (reason == "not_node") {
    spdlog::debug("{}", line);
  } else {
    log_.warn(message, now_ns, line);
  }
}

void ObservedProcesses::fail_to(const std::string& what, const ProcessId& id, const Error& error,
                                uint64_t now_ns) {
  ++failures_[what];
  log_.warn(what, now_ns, fmt::format("pid {} is not observed yet: {}", id.pid, error.message));
}

}  // namespace uvtap
