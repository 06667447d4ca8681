// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/memory_door.h"

#include "userspace/loops/loop_finder.h"

namespace uvtap {
namespace {

/// One read takes some ten microseconds.
constexpr uint64_t read_limit_ns = 100'000'000;

}  // namespace

void MemoryDoor::observe(pid_t pid, const ProbePlan& plan) {
  plans_[pid] = plan;
  find_loops_of(pid, plan);
}

void MemoryDoor::adopt(pid_t pid, const ProbePlan& plan, std::span<const loop_slot> slots) {
  for (loop_slot slot : slots) {
    slot.front_door = FRONT_DOOR_MEMORY;
    sampler_.add(slot, plan.layout);
  }
  observe(pid, plan);
}

std::vector<loop_slot> MemoryDoor::release(pid_t pid) {
  plans_.erase(pid);
  return sampler_.release(pid);
}

void MemoryDoor::forget(pid_t pid) {
  plans_.erase(pid);
  sampler_.forget(pid);
}

void MemoryDoor::find_new_loops() {
  give_up_stuck();
  for (const auto& [pid, plan] : plans_) find_loops_of(pid, plan);
}

void MemoryDoor::find_loops_of(pid_t pid, const ProbePlan& plan) {
  const auto found = looks_->look(pid, "its memory",
                                  [pid, plan, proc = *proc_, resolution_ms = delay_resolution_ms_] {
                                    return find_loops(pid, plan, proc, resolution_ms);
                                  });
  if (!found) return;
  for (const loop_slot& slot : *found) sampler_.add(slot, plan.layout);
}

void MemoryDoor::give_up_stuck() {
  if (const auto stuck = sampler_.give_up_stuck(read_limit_ns))
    looks_->note_hang(stuck->pid, "its memory", stuck->hang);
  sampler_.pause_unless([this](pid_t pid) { return looks_->answers(pid); });
}

}  // namespace uvtap
