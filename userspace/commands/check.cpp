// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "userspace/commands/check_kubernetes.h"
#include "userspace/commands/check_machine.h"
#include "userspace/commands/check_processes.h"
#include "userspace/commands/commands.h"
#include "userspace/identity/cgroup_owner.h"
#include "userspace/loops/loop_table.h"
#include "userspace/probes/front_door.h"

namespace uvtap {
namespace {

/// Says the line; whether nothing is missing.
bool say(const CheckLine& line) {
  const std::string text = to_text(line);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return line.finding != Finding::no;
}

void say_machine() {
  say(check_kernel());
  say(check_btf());
  say(check_pid_namespace());
  say(check_capabilities());
  say(check_lockdown());
  say(check_tracefs());
  say(check_perf_event_paranoid());
}

/// What is left to say where no BPF program can be loaded.
void say_skipped() {
  for (const char* what :
       {"process events", "uprobes", "front door io_poll", "front door tracepoint",
        "front door epoll", "pod names", "reading memory", "Node.js processes"})
    say({Finding::skipped, what, "not tried: the BPF programs cannot be loaded", ""});
}

/// The error is why not even one process could be observed.
Result<void> check_processes(const Config& config, const BpfPrograms& programs,
                             const DoorPreference& doors) {
  auto sources = PodSources::start(config.kubernetes);
  if (!sources) return std::unexpected(sources.error());
  say(check_pod_names(**sources));
  const ProcFs proc(config.proc_root);
  BoundedLooks looks(owner_by_cgroup_in(proc));
  PatientInspector inspector(proc, programs.mapped_files(), doors, looks);
  const auto processes = inspect_processes(proc, inspector, looks, **sources);
  if (!processes) return std::unexpected(processes.error());
  say(check_memory(processes->known));
  if (processes->known.empty()) say({Finding::skipped, "Node.js processes", "none now", ""});
  for (const CheckedProcess& process : processes->known) say(check_process(process));
  if (processes->unreadable.empty()) return {};
  say(check_unreadable(*processes));
  if (may_look_into_processes()) return {};  // then these few are odd
  return fail("the processes of others cannot be looked into");
}

/// Whether a door that may be used works. Memory alone does not count unless it was asked for.
bool any_door_works(const Config& config, const std::vector<DoorTrial>& trials) {
  if (config.forced_front_door == FRONT_DOOR_MEMORY) return true;
  return std::ranges::any_of(trials, [&](const DoorTrial& trial) {
    return trial.seconds_per_hit && trial.door == config.forced_front_door.value_or(trial.door);
  });
}

DoorPreference allowed_doors(const Config& config, const std::vector<DoorTrial>& trials) {
  if (config.forced_front_door) return {*config.forced_front_door};
  return usable_doors(trials);
}

/// Everything that needs BPF. The error is what rules observation out.
Result<void> check_probes(const Config& config) {
  auto programs = BpfPrograms::load({});
  if (!say(check_bpf(programs))) {
    say_skipped();
    return fail("the BPF programs cannot be loaded");
  }
  auto table = LoopTable::map(*programs);
  if (!table) return std::unexpected(table.error());
  const bool events_work = say(check_lifecycle(*programs));
  const auto trials = try_front_doors(*programs, *table);
  say(check_uprobes(programs->uprobe_way(), trials));
  const bool any_works = any_door_works(config, trials);
  for (const DoorTrial& trial : trials) say(check_door(trial, any_works));
  const auto processes = check_processes(config, *programs, allowed_doors(config, trials));
  if (!events_work) return fail("the kernel does not report the processes that start and end");
  if (!any_works) return fail("none of the allowed front doors works");
  return processes;
}

}  // namespace

Result<int> check(const Config& config) {
  say_machine();
  if (const auto possible = check_probes(config); !possible) {
    std::printf("\nthis machine cannot be observed: %s\n", possible.error().message.c_str());
    return 1;
  }
  std::puts("\nthis machine can be observed");
  return 0;
}

}  // namespace uvtap
