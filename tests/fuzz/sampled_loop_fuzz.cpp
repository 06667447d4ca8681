// SPDX-License-Identifier: Apache-2.0
// The memory door: counters as they stand in a process's memory, which may say anything. Only the
// time of each look is our own.
#include <memory>

#include "bpf/loop_turn.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/slot_checks.h"
#include "userspace/loops/sampled_loop.h"

using namespace uvtap;
using fuzz::require;

namespace {

LoopCounters next_counters(fuzz::Input& input, uint64_t& now_ns) {
  now_ns += fuzz::take_magnitude(input) >> 16;
  LoopCounters counters;
  counters.taken_at_ns = now_ns;
  // Half of the times are near the truth: lies that are not easily seen through.
  const auto near_now = [&] {
    const auto offset_ns = input.take<int32_t>();
    return now_ns + static_cast<uint64_t>(int64_t{offset_ns});
  };
  const auto kind = input.take<uint8_t>();
  counters.entry_time_ns = (kind & 1) != 0 ? near_now() : fuzz::take_magnitude(input);
  counters.idle_time_ns = (kind & 2) != 0 ? near_now() : fuzz::take_magnitude(input);
  counters.loop_time_ms = (kind & 4) != 0 ? near_now() / NS_PER_MS : fuzz::take_magnitude(input);
  counters.loop_count = fuzz::take_magnitude(input);
  return counters;
}

SampledLoop first_look(fuzz::Input& input, uint64_t begin_ns, uint64_t resolution_ms) {
  loop_slot slot{};
  const turn_look look{begin_ns, fuzz::take_magnitude(input), 0, 0, 0};
  loop_begins(&slot, &look, resolution_ms);
  return {slot, LibuvLayout{}};
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const uint64_t resolution_ms = 1 + input.take<uint16_t>() % 1000;
  const uint64_t begin_ns = fuzz::take_magnitude(input) >> 8;
  uint64_t now_ns = begin_ns;
  SampledLoop loop = first_look(input, begin_ns, resolution_ms);
  while (!input.empty()) {
    const auto before = std::make_unique<loop_slot>(loop.slot());
    loop.advance(next_counters(input, now_ns), resolution_ms);
    fuzz::require_forward(*before, loop.slot());
    fuzz::require_consistent(loop.slot(), begin_ns, now_ns);
    require(loop.slot().poll_entry_ns <= now_ns, "no turn begins in the future");
  }
  return 0;
}
