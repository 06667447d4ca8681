// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/memory_door.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>

#include "userspace/loops/loop_finder.h"
#include "userspace/util/monotonic_clock.h"

namespace uvtap {
namespace {

constexpr std::chrono::milliseconds sample_interval{2};

}  // namespace

void MemoryDoor::observe(pid_t pid, const ProbePlan& plan) {
  plans_[pid] = plan;
  find_new_loops();
  start_sampling();
}

void MemoryDoor::adopt(pid_t pid, const ProbePlan& plan, std::span<const loop_slot> slots) {
  {
    const std::scoped_lock lock(mutex_);
    for (loop_slot slot : slots) {
      slot.front_door = FRONT_DOOR_MEMORY;
      loops_.insert_or_assign(static_cast<pid_t>(slot.tid), SampledLoop(slot, plan.layout));
    }
  }
  observe(pid, plan);
}

std::vector<loop_slot> MemoryDoor::release(pid_t pid) {
  std::vector<loop_slot> slots;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [tid, loop] : loops_)
      if (loop.slot().tgid == static_cast<uint32_t>(pid) && loop.slot().ended_ns == 0)
        slots.push_back(loop.slot());
  }
  forget(pid);
  return slots;
}

void MemoryDoor::forget(pid_t pid) {
  plans_.erase(pid);
  const std::scoped_lock lock(mutex_);
  std::erase_if(loops_, [&](const auto& entry) {
    return entry.second.slot().tgid == static_cast<uint32_t>(pid);
  });
}

void MemoryDoor::find_new_loops() {
  for (const auto& [pid, plan] : plans_) {
    auto found = find_loops(pid, plan, *proc_, delay_resolution_ms_);
    const std::scoped_lock lock(mutex_);
    for (const auto& slot : found) add(slot, plan.layout);
    wake_.notify_one();
  }
}

void MemoryDoor::add(const loop_slot& slot, const LibuvLayout& layout) {
  const auto tid = static_cast<pid_t>(slot.tid);
  if (loops_.contains(tid)) return;
  const auto siblings = static_cast<size_t>(std::ranges::count_if(
      loops_, [&](const auto& entry) { return entry.second.slot().tgid == slot.tgid; }));
  if (loops_.size() >= limits_.loops || siblings >= limits_.loops_per_process) {
    ++limited_;
    return;
  }
  loops_.try_emplace(tid, slot, layout);
}

std::vector<loop_slot> MemoryDoor::take_slots() {
  std::vector<loop_slot> slots;
  const std::scoped_lock lock(mutex_);
  slots.reserve(loops_.size());
  for (const auto& [tid, loop] : loops_) slots.push_back(loop.slot());
  std::erase_if(loops_, [](const auto& entry) { return entry.second.slot().ended_ns != 0; });
  return slots;
}

void MemoryDoor::start_sampling() {
  if (sampler_.joinable()) return;
  sampler_ = std::jthread([this](const std::stop_token& stop) { sample_until_stopped(stop); });
}

void MemoryDoor::sample_until_stopped(const std::stop_token& stop) {
  prctl(PR_SET_NAME, "memory_door");
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    for (auto& [tid, loop] : loops_) sample(loop);
    next += sample_interval;
    // After a pause (no CPU for us) the lost rounds are not made up for.
    next = std::max(next, std::chrono::steady_clock::now());
    wake_.wait_until(lock, stop, next, [] { return false; });
    if (loops_.empty()) wake_.wait(lock, stop, [this] { return !loops_.empty(); });
  }
}

void MemoryDoor::sample(SampledLoop& loop) {
  const loop_slot& slot = loop.slot();
  const auto pid = static_cast<pid_t>(slot.tgid);
  auto counters = read_loop_counters(ProcessMemory(pid), slot.loop_address, loop.layout());
  if (counters) {
    loop.advance(*counters, delay_resolution_ms_);
  } else if (!proc_->thread_times(pid, static_cast<pid_t>(slot.tid))) {
    loop.end(monotonic_now_ns());
  }
}

}  // namespace uvtap
