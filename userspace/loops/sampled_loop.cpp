// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/sampled_loop.h"

#include <algorithm>

#include "bpf/loop_turn.h"

namespace uvtap {
namespace {

/// Turns told apart in one look. The rest are counted: so short, they delay nobody.
constexpr uint64_t told_apart_per_look = 64;
/// libuv's counter is the application's to write; a real loop makes a few thousand in 2 ms.
constexpr uint64_t max_turns_per_look = 1'000'000;
/// By how much a read may be later than its timestamp: see read_loop_counters().
constexpr uint64_t read_tolerance_ns = 1'000'000;

}  // namespace

SampledLoop::SampledLoop(const loop_slot& slot, const LibuvLayout& layout)
    : slot_(slot), layout_(layout) {
  last_.idle_time_ns = slot.idle_counter_ns;
  last_.taken_at_ns = slot.poll_entry_ns;
}

bool SampledLoop::advance(const LoopCounters& counters, uint64_t delay_resolution_ms) {
  if (are_impossible(counters)) {
    begin_anew(counters, delay_resolution_ms);
    return false;
  }
  note_interruption(counters);
  const uint64_t turns = turns_since_last_look(counters);
  slot_.hits++;
  if (turns > 0 && counters.entry_time_ns != 0) {
    // It waits: the last turn has ended exactly when the wait began. Not in the future, whatever
    // the process says.
    const uint64_t ended_ns = std::min(counters.entry_time_ns, counters.taken_at_ns);
    add_turns(turns, ended_ns, counters, delay_resolution_ms);
  } else if (turns > 0) {
    // It is busy. What it does now began when libuv last looked at the clock, to the millisecond:
    // after the poll.
    const uint64_t began_ns = std::clamp<uint64_t>(counters.loop_time_ms * NS_PER_MS,
                                                   last_.taken_at_ns, counters.taken_at_ns);
    add_turns(turns, began_ns, counters, delay_resolution_ms);
  }
  last_ = counters;
  return true;
}

/// A wait that begins in the future, more idle time than time has passed, or less than there was.
bool SampledLoop::are_impossible(const LoopCounters& counters) const {
  const uint64_t latest_ns = counters.taken_at_ns + read_tolerance_ns;
  const uint64_t most_idle_ns = idle_at(last_) + difference_or_zero(latest_ns, last_.taken_at_ns);
  return counters.entry_time_ns > latest_ns || counters.idle_time_ns > most_idle_ns ||
         idle_at(counters) < slot_.idle_counter_ns;
}

void SampledLoop::begin_anew(const LoopCounters& counters, uint64_t delay_resolution_ms) {
  const turn_look look{.now_ns = counters.taken_at_ns,
                       .idle_counter_ns = idle_at(counters),
                       .thread_cpu_ns = slot_.thread_cpu_ns,
                       .thread_runqueue_ns = slot_.thread_runqueue_ns,
                       .poll_timeout_ms = -1};
  slot_.hits++;
  loop_begins(&slot_, &look, delay_resolution_ms);
  last_ = counters;
}

/// A wait that began anew though none had ended: a signal came, and libuv forgot what had passed.
void SampledLoop::note_interruption(const LoopCounters& counters) {
  if (last_.entry_time_ns == 0 || counters.entry_time_ns <= last_.entry_time_ns ||
      counters.idle_time_ns != last_.idle_time_ns)
    return;
  slot_.forgotten_idle_ns += counters.entry_time_ns - last_.entry_time_ns;
  last_.entry_time_ns = counters.entry_time_ns;
}

uint64_t SampledLoop::turns_since_last_look(const LoopCounters& counters) const {
  if (counters.entry_time_ns != 0 && counters.entry_time_ns <= slot_.poll_entry_ns) return 0;
  if (counters.loop_count != 0 && last_.loop_count != 0)
    return std::min<uint64_t>(difference_or_zero(counters.loop_count, last_.loop_count),
                              max_turns_per_look);
  // Before 1.45 libuv counts no turns. A wait that is over shows one, and so does its clock, which
  // is set after each poll (and, at times, by JavaScript timers).
  const bool turned = counters.entry_time_ns != last_.entry_time_ns ||
                      counters.idle_time_ns != last_.idle_time_ns ||
                      counters.loop_time_ms != last_.loop_time_ms;
  return turned ? 1 : 0;
}

/// All these turns ended after the last look, so the first of them lasted at least until then; what
/// followed is spread evenly over them.
void SampledLoop::add_turns(uint64_t count, uint64_t end_ns, const LoopCounters& counters,
                            uint64_t delay_resolution_ms) {
  const uint64_t from_ns = std::max<uint64_t>(last_.taken_at_ns, slot_.poll_entry_ns);
  const uint64_t from_idle_ns = std::max<uint64_t>(idle_at(last_), slot_.idle_counter_ns);
  // No longer than there was time for, to the nanosecond.
  const uint64_t waited_ns = std::min(difference_or_zero(counters.idle_time_ns, from_idle_ns),
                                      difference_or_zero(counters.taken_at_ns, from_ns));
  // Never so short that the waits would not fit in.
  const uint64_t spread_ns = std::max<uint64_t>(difference_or_zero(end_ns, from_ns), waited_ns);
  const uint64_t told_apart = std::min(count, told_apart_per_look);
  for (uint64_t turn = 1; turn <= told_apart; ++turn) {
    const turn_look look{.now_ns = from_ns + spread_ns * turn / told_apart,
                         .idle_counter_ns = from_idle_ns + waited_ns * turn / told_apart,
                         .thread_cpu_ns = slot_.thread_cpu_ns,
                         .thread_runqueue_ns = slot_.thread_runqueue_ns,
                         .poll_timeout_ms = -1};
    loop_turns(&slot_, &look, delay_resolution_ms);
  }
  slot_.turns += count - told_apart;
  slot_.turn_histogram[0].count += count - told_apart;
}

}  // namespace uvtap
