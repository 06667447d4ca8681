// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/loop_sampler.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "userspace/loops/loop_memory.h"
#include "userspace/util/monotonic_clock.h"

namespace uvtap {
namespace {

constexpr std::chrono::milliseconds sample_interval{2};

struct Sampled {
  SampledLoop loop;
  bool paused = false;
};

/// What one read needs; a copy, because it is read without the lock.
struct Target {
  pid_t pid = 0;
  pid_t tid = 0;
  uint64_t observed_since_ns = 0;
  uint64_t loop_address = 0;
  LibuvLayout layout;
};

Target target_of(const SampledLoop& loop) {
  const loop_slot& slot = loop.slot();
  return {static_cast<pid_t>(slot.tgid), static_cast<pid_t>(slot.tid), slot.observed_since_ns,
          slot.loop_address, loop.layout()};
}

}  // namespace

/// Everything the thread touches. One that hangs is left behind with all of it but the loops.
struct LoopSampler::State {
  ProcFs proc;
  uint64_t delay_resolution_ms = 0;

  std::mutex mutex;  ///< guards what follows; never held while memory is read
  std::condition_variable wake;
  std::map<pid_t, Sampled> loops;  ///< by thread
  bool stop = false;
  uint64_t restarts = 0;
  pid_t reading = 0;  ///< the process whose memory is being read; 0 for none
  uint64_t reading_since_ns = 0;

  void sample_until_stopped();
  [[nodiscard]] std::vector<Target> targets() const;
  void sample(const Target& target, std::unique_lock<std::mutex>& lock);
  void take_in(const Target& target, const Result<LoopCounters>& counters, bool is_alive);
};

std::vector<Target> LoopSampler::State::targets() const {
  std::vector<Target> targets;
  for (const auto& [tid, sampled] : loops)
    if (!sampled.paused && sampled.loop.slot().ended_ns == 0)
      targets.push_back(target_of(sampled.loop));
  return targets;
}

void LoopSampler::State::sample_until_stopped() {
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex);
  while (!stop) {
    for (const Target& target : targets()) {
      sample(target, lock);
      if (stop) return;
    }
    next += sample_interval;
    // After a pause (no CPU for us) the lost rounds are not made up for.
    next = std::max(next, std::chrono::steady_clock::now());
    wake.wait_until(lock, next, [this] { return stop; });
    if (loops.empty()) wake.wait(lock, [this] { return stop || !loops.empty(); });
  }
}

void LoopSampler::State::sample(const Target& target, std::unique_lock<std::mutex>& lock) {
  reading = target.pid;
  reading_since_ns = monotonic_now_ns();
  lock.unlock();
  const auto counters =
      read_loop_counters(ProcessMemory(target.pid), target.loop_address, target.layout);
  const bool is_alive = counters || proc.thread_times(target.pid, target.tid);
  lock.lock();
  reading = 0;
  take_in(target, counters, is_alive);
}

void LoopSampler::State::take_in(const Target& target, const Result<LoopCounters>& counters,
                                 bool is_alive) {
  const auto found = loops.find(target.tid);
  if (found == loops.end()) return;
  SampledLoop& loop = found->second.loop;
  if (loop.slot().observed_since_ns != target.observed_since_ns) return;  // another one by now
  if (counters) {
    if (!loop.advance(*counters, delay_resolution_ms)) ++restarts;
  } else if (!is_alive) {
    loop.end(monotonic_now_ns());
  }
}

LoopSampler::LoopSampler(ProcFs proc, uint64_t delay_resolution_ms, const Limits& limits)
    : proc_(std::move(proc)),
      delay_resolution_ms_(delay_resolution_ms),
      limits_(limits),
      state_(std::make_shared<State>(proc_, delay_resolution_ms)) {}

LoopSampler::~LoopSampler() {
  const std::scoped_lock lock(state_->mutex);
  state_->stop = true;
  state_->wake.notify_all();
}

void LoopSampler::start() {
  thread_.start([state = state_] { state->sample_until_stopped(); });
  started_ = true;
}

/// With the lock held.
bool LoopSampler::has_room_for(const loop_slot& slot) const {
  const auto& loops = state_->loops;
  const auto siblings = static_cast<size_t>(std::ranges::count_if(
      loops, [&](const auto& entry) { return entry.second.loop.slot().tgid == slot.tgid; }));
  return loops.size() < limits_.loops && siblings < limits_.loops_per_process;
}

void LoopSampler::add(const loop_slot& slot, const LibuvLayout& layout) {
  {
    const std::scoped_lock lock(state_->mutex);
    const auto tid = static_cast<pid_t>(slot.tid);
    if (state_->loops.contains(tid)) return;
    if (!has_room_for(slot)) {
      ++limited_;
      return;
    }
    state_->loops.try_emplace(tid, Sampled{SampledLoop(slot, layout)});
  }
  state_->wake.notify_all();
  if (!started_) start();
}

void LoopSampler::forget(pid_t pid) {
  const std::scoped_lock lock(state_->mutex);
  std::erase_if(state_->loops, [&](const auto& entry) {
    return entry.second.loop.slot().tgid == static_cast<uint32_t>(pid);
  });
}

std::vector<loop_slot> LoopSampler::release(pid_t pid) {
  std::vector<loop_slot> slots;
  {
    const std::scoped_lock lock(state_->mutex);
    for (const auto& [tid, sampled] : state_->loops)
      if (sampled.loop.slot().tgid == static_cast<uint32_t>(pid) &&
          sampled.loop.slot().ended_ns == 0)
        slots.push_back(sampled.loop.slot());
  }
  forget(pid);
  return slots;
}

void LoopSampler::pause_unless(const std::function<bool(pid_t)>& may_read) {
  const std::scoped_lock lock(state_->mutex);
  for (auto& [tid, sampled] : state_->loops)
    sampled.paused = !may_read(static_cast<pid_t>(sampled.loop.slot().tgid));
}

std::vector<loop_slot> LoopSampler::take_slots() {
  const std::scoped_lock lock(state_->mutex);
  std::vector<loop_slot> slots;
  slots.reserve(state_->loops.size());
  for (const auto& [tid, sampled] : state_->loops) slots.push_back(sampled.loop.slot());
  std::erase_if(state_->loops,
                [](const auto& entry) { return entry.second.loop.slot().ended_ns != 0; });
  return slots;
}

uint64_t LoopSampler::restarts() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->restarts;
}

std::optional<LoopSampler::Stuck> LoopSampler::give_up_stuck(uint64_t limit_ns) {
  const auto hung = state_;
  auto successor = std::make_shared<State>(proc_, delay_resolution_ms_);
  pid_t pid = 0;
  {
    const std::scoped_lock lock(hung->mutex);
    if (hung->reading == 0 || hung->reading_since_ns + limit_ns > monotonic_now_ns() ||
        !thread_.waits_now())
      return std::nullopt;
    pid = hung->reading;
    hung->stop = true;
    successor->loops = std::exchange(hung->loops, {});
    successor->restarts = hung->restarts;
  }
  Stuck stuck{pid, thread_.abandon()};
  state_ = std::move(successor);
  started_ = false;
  return stuck;
}

}  // namespace uvtap
