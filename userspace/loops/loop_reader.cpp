// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/loop_reader.h"

#include <algorithm>
#include <set>

#include "bpf/loop_turn.h"
#include "userspace/loops/loop_memory.h"

namespace uvtap {
namespace {

/// Takes over a total that may seem to have fallen behind: a look into memory can run ahead of what
/// the turn then turns out to have been. Returns what it gained.
uint64_t raise(uint64_t& total, uint64_t now) {
  const uint64_t gained = now > total ? now - total : 0;
  total += gained;
  return gained;
}

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
  std::vector<LoopSnapshot> snapshots;
  std::set<LoopId> seen;
  for (auto entry : table_->entries()) {
    table_->read(entry.index, slot_);
    auto process = processes.find(static_cast<pid_t>(slot_.tgid));
    const bool wanted = process != processes.end();
    if (wanted) snapshots.push_back(take(entry, process->second));
    if (!wanted || snapshots.back().ended) {
      table_->remove(entry);
    } else {
      seen.insert(snapshots.back().id);
    }
  }
  for (const auto& slot : memory_door_->take_slots()) {
    auto process = processes.find(static_cast<pid_t>(slot.tgid));
    if (process == processes.end()) continue;
    slot_ = slot;
    snapshots.push_back(take(std::nullopt, process->second));
    seen.insert(snapshots.back().id);
  }
  std::erase_if(histories_, [&](const auto& known) { return !seen.contains(known.first); });
  return snapshots;
}

LoopSnapshot LoopReader::take(Source source, const LibuvLayout& layout) {
  LoopSnapshot snapshot = empty_snapshot(slot_);
  if (!snapshot.ended) add_turn_in_progress(source, layout, snapshot);
  add_totals(snapshot);
  std::ranges::copy(slot_.turn_histogram, snapshot.turn_histogram.begin());
  std::ranges::copy(slot_.delay_histogram, snapshot.delay_histogram.begin());
  return snapshot;
}

void LoopReader::add_turn_in_progress(Source source, const LibuvLayout& layout,
                                      LoopSnapshot& snapshot) {
  auto counters = read_loop_counters(ProcessMemory(snapshot.id.pid), slot_.loop_address, layout);
  auto times = proc_->thread_times(snapshot.id.pid, snapshot.id.tid);
  if (source && table_->changed_since(source->index, slot_)) {
    // It has turned meanwhile: what BPF says now is as fresh as can be.
    table_->read(source->index, slot_);
    snapshot.taken_at_ns = slot_.poll_entry_ns;
    return;
  }
  if (!counters || !times) {
    ++unreadable_;
    return;
  }
  const bool is_waiting = counters->entry_time_ns != 0;
  const turn_look look{counters->taken_at_ns, idle_at(*counters), times->cpu_ns, times->runqueue_ns,
                       0};
  snapshot.taken_at_ns = std::max(look.now_ns, slot_.poll_entry_ns);
  snapshot.stall_ns = loop_in_progress(&slot_, &look, is_waiting, delay_resolution_ms_);
  const bool overdue = slot_.timer.expiry_ms * NS_PER_MS < look.now_ns;
  if (snapshot.stall_ns && overdue && slot_.timer.previous_firing_ns)
    snapshot.overdue_delay_ns = look.now_ns - slot_.timer.previous_firing_ns;
}

void LoopReader::add_totals(LoopSnapshot& snapshot) {
  History& history = histories_[snapshot.id];
  const uint64_t active_ns = raise(history.active_ns, slot_.active_ns);
  raise(history.idle_ns, slot_.idle_ns);
  const auto& parts = history.split.add(active_ns, raise(history.cpu_ns, slot_.cpu_ns),
                                        raise(history.runqueue_ns, slot_.runqueue_ns));
  const uint64_t hits = raise(history.hits, slot_.hits);
  hits_[snapshot.door] += hits;
  history.overhead_ns += static_cast<double>(hits) * costs_[snapshot.door] * 1e9;
  snapshot.active_ns = history.active_ns;
  snapshot.idle_ns = history.idle_ns;
  snapshot.cpu_ns = parts.cpu_ns;
  snapshot.runqueue_ns = parts.runqueue_ns;
  snapshot.blocked_ns = parts.blocked_ns;
  snapshot.turns = slot_.turns;
  snapshot.overhead_ns = static_cast<uint64_t>(history.overhead_ns);
}

}  // namespace uvtap
