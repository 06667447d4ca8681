// SPDX-License-Identifier: Apache-2.0
#include "userspace/discovery/process_tracker.h"

#include <optional>
#include <set>
#include <utility>

namespace uvtap {

namespace {

// Nothing where the process is gone, or ended and only waits for its parent.
std::optional<uint64_t> living_since(pid_t pid, const ProcFs& proc) {
  const Result<ProcessStat> stat = proc.process_stat(pid);
  if (!stat || stat->ended()) return std::nullopt;
  return stat->start_time_ticks;
}

}  // namespace

void ProcessTracker::note_fork(pid_t pid) {
  // A scan may have seen the child already: then the start time tells that it is the same one,
  // unless an exit was noted in between.
  const auto [hint, first] = hints_.try_emplace(pid, Hint::look);
  if (!first) hint->second = Hint::replaced;
}

void ProcessTracker::note_exec(pid_t pid) { hints_[pid] = Hint::replaced; }

void ProcessTracker::note_exit(pid_t pid) { hints_[pid] = Hint::ended; }

Result<ProcessChanges> ProcessTracker::scan(const ProcFs& proc) {
  const Result<std::vector<pid_t>> listed = proc.list_pids();
  if (!listed) return std::unexpected(listed.error());
  std::set<pid_t> pids(listed->begin(), listed->end());
  for (const auto& [pid, process] : processes_) pids.insert(pid);
  ProcessChanges changes;
  for (const pid_t pid : pids) look_at(pid, proc, changes);
  hints_.clear();
  return changes;
}

ProcessChanges ProcessTracker::look_at_noted(const ProcFs& proc) {
  ProcessChanges changes;
  for (const auto& [pid, hint] : hints_) look_at(pid, proc, changes);
  hints_.clear();
  return changes;
}

void ProcessTracker::look_at(pid_t pid, const ProcFs& proc, ProcessChanges& changes) {
  const auto found = hints_.find(pid);
  const Hint hint = found == hints_.end() ? Hint::look : found->second;
  const std::optional<uint64_t> start_time = living_since(pid, proc);

  const auto known = processes_.find(pid);
  if (known != processes_.end()) {
    if (hint == Hint::look && start_time == known->second.start_time_ticks) return;
    changes.gone.push_back(known->second);
    processes_.erase(known);
  }
  // One that is still there though its exit was noted waits for the next look.
  if (!start_time || hint == Hint::ended) return;
  const ProcessId process{pid, *start_time, ++last_incarnation_};
  processes_.emplace(pid, process);
  changes.appeared.push_back(process);
}

}  // namespace uvtap
