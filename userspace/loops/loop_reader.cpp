// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/loop_reader.h"

#include <algorithm>
#include <set>

#include "bpf/loop_turn.h"
#include "userspace/loops/loop_memory.h"
#include "userspace/loops/raise.h"

namespace uvtap {
namespace {

LoopSnapshot empty_snapshot(const loop_slot& slot) {
  LoopSnapshot snapshot;
  snapshot.id = {static_cast<pid_t>(slot.tgid), static_cast<pid_t>(slot.tid),
                 slot.observed_since_ns};
  snapshot.is_worker = slot.tgid != slot.tid;
  snapshot.door = static_cast<front_door>(slot.front_door);
  snapshot.taken_at_ns = slot.poll_entry_ns;
  snapshot.ended = slot.ended_ns != 0;
  return snapshot;
}

}  // namespace

std::vector<LoopSnapshot> LoopReader::snapshot(const LayoutOfProcess& processes) {
  const auto entries = table_->entries();
  std::vector<LoopTable::Mark> marks;
  marks.reserve(entries.size());
  for (const auto& entry : entries) marks.push_back(table_->mark(entry));
  const auto sampled = memory_door_->take_slots();
  const auto looks = looks_.at(requests(marks, sampled, processes));

  std::vector<LoopSnapshot> snapshots;
  std::set<LoopId> seen;
  for (size_t i = 0; i < entries.size(); ++i) {
    table_->read(entries[i].index, slot_);
    const bool wanted = processes.contains(static_cast<pid_t>(slot_.tgid));
    // Where it has turned, what BPF says now is as fresh as can be.
    if (wanted) snapshots.push_back(take(looks[i], slot_.sequence != marks[i].sequence));
    if (!wanted || snapshots.back().ended) {
      table_->remove(entries[i]);
    } else {
      seen.insert(snapshots.back().id);
    }
  }
  for (size_t i = 0; i < sampled.size(); ++i) {
    if (!processes.contains(static_cast<pid_t>(sampled[i].tgid))) continue;
    slot_ = sampled[i];
    snapshots.push_back(take(looks[entries.size() + i], false));
    seen.insert(snapshots.back().id);
  }
  std::erase_if(histories_, [&](const auto& known) { return !seen.contains(known.first); });
  return snapshots;
}

std::vector<TurnLookRequest> LoopReader::requests(const std::vector<LoopTable::Mark>& marks,
                                                  const std::vector<loop_slot>& sampled,
                                                  const LayoutOfProcess& processes) {
  std::vector<TurnLookRequest> wanted;
  wanted.reserve(marks.size() + sampled.size());
  const auto want = [&](uint32_t tgid, uint32_t tid, uint64_t loop_address, bool has_ended,
                        bool is_sampled) {
    const auto pid = static_cast<pid_t>(tgid);
    const auto process = processes.find(pid);
    const bool is_wanted = process != processes.end() && !has_ended;
    wanted.push_back(is_wanted ? TurnLookRequest{pid, static_cast<pid_t>(tid), loop_address,
                                                 process->second, is_sampled}
                               : TurnLookRequest{});
  };
  for (const auto& mark : marks)
    want(mark.tgid, mark.tid, mark.loop_address, mark.has_ended, false);
  // What a sampled loop has used of a CPU is not in its slot.
  for (const auto& slot : sampled)
    want(slot.tgid, slot.tid, slot.loop_address, slot.ended_ns != 0, true);
  return wanted;
}

LoopSnapshot LoopReader::take(const std::optional<TurnLook>& look, bool has_turned_since) {
  LoopSnapshot snapshot = empty_snapshot(slot_);
  if (!snapshot.ended && !has_turned_since) add_turn_in_progress(look, snapshot);
  add_totals(snapshot);
  snapshot.turn_histogram = occupied(slot_.turn_histogram);
  snapshot.delay_histogram = occupied(slot_.delay_histogram);
  return snapshot;
}

void LoopReader::add_turn_in_progress(const std::optional<TurnLook>& seen, LoopSnapshot& snapshot) {
  if (!seen) {
    ++unreadable_;
    return;
  }
  const auto& counters = seen->counters;
  const bool is_waiting = counters.entry_time_ns != 0;
  const auto times =
      seen->times.value_or(ThreadTimes{slot_.thread_cpu_ns, slot_.thread_runqueue_ns});
  const turn_look look{counters.taken_at_ns, idle_at(counters), times.cpu_ns, times.runqueue_ns, 0};
  snapshot.taken_at_ns = std::max(look.now_ns, slot_.poll_entry_ns);
  snapshot.stall_ns = loop_in_progress(&slot_, &look, is_waiting, delay_resolution_ms_);
  const bool overdue = slot_.timer.expiry_ms * NS_PER_MS < look.now_ns;
  if (snapshot.stall_ns && overdue && slot_.timer.previous_firing_ns)
    snapshot.overdue_delay_ns = look.now_ns - slot_.timer.previous_firing_ns;
}

void LoopReader::add_totals(LoopSnapshot& snapshot) {
  History& history =
      histories_.try_emplace(snapshot.id, snapshot.id.observed_since_ns).first->second;
  const uint64_t active_ns =
      history.time.add(snapshot.taken_at_ns, {slot_.active_ns, slot_.idle_ns}).active_ns;
  const auto& parts = history.split.add(active_ns, raise(history.cpu_ns, slot_.cpu_ns),
                                        raise(history.runqueue_ns, slot_.runqueue_ns));
  const uint64_t hits = raise(history.hits, slot_.hits);
  hits_[snapshot.door] += hits;
  history.overhead_ns += static_cast<double>(hits) * costs_[snapshot.door] * 1e9;
  snapshot.active_ns = history.time.total().active_ns;
  snapshot.idle_ns = history.time.total().idle_ns;
  snapshot.cpu_ns = parts.cpu_ns;
  snapshot.runqueue_ns = parts.runqueue_ns;
  snapshot.blocked_ns = parts.blocked_ns;
  snapshot.turns = slot_.turns;
  snapshot.overhead_ns = static_cast<uint64_t>(history.overhead_ns);
}

}  // namespace uvtap
