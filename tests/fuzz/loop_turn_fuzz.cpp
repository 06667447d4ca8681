// SPDX-License-Identifier: Apache-2.0
// What BPF makes of a process's counters. The kernel's clock and the scheduler's account go
// forward; what stands in the process's memory does as it likes.
#include <memory>

#include "bpf/loop_turn.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/slot_checks.h"

using namespace uvtap;
using fuzz::require;

namespace {

/// A thread: its clocks, and a first look at its loop.
class Thread {
 public:
  Thread(fuzz::Input& input, loop_slot& slot) : slot_(slot) {
    resolution_ms_ = 1 + input.take<uint16_t>() % 1000;
    slot_.rereads_clock = input.take<uint8_t>() % 2;
    const turn_look look = next_look(input);
    loop_begins(&slot_, &look, resolution_ms_);
    begin_ns_ = now_ns_;
  }

  void step(fuzz::Input& input) {
    const auto before = std::make_unique<loop_slot>(slot_);
    const auto kind = input.take<uint8_t>() % 4;
    const turn_look look = next_look(input);
    if (kind < 2)
      turn(look);
    else if (kind == 2)
      look_in_between(look, input.take<uint8_t>() % 2);
    else
      loop_is_interrupted(&slot_, now_ns_, fuzz::take_magnitude(input), look.poll_timeout_ms & 1);
    fuzz::require_forward(*before, slot_);
    fuzz::require_consistent(slot_, begin_ns_, now_ns_);
  }

 private:
  turn_look next_look(fuzz::Input& input) {
    // Two weeks at the most between two looks, four at the start.
    now_ns_ += fuzz::take_magnitude(input) >> 14;
    cpu_ns_ += fuzz::take_magnitude(input) >> 14;
    runqueue_ns_ += fuzz::take_magnitude(input) >> 14;
    return {now_ns_, fuzz::take_magnitude(input), cpu_ns_, runqueue_ns_, input.take<int32_t>()};
  }

  void turn(const turn_look& look) {
    const uint64_t turns = slot_.turns;
    const int result = loop_turns(&slot_, &look, resolution_ms_);
    require(slot_.turns == turns + (result == 0 ? 1 : 0), "a turn, or a new start");
    require(slot_.poll_entry_ns == now_ns_, "the next turn is counted from here");
  }

  void look_in_between(const turn_look& look, int is_waiting) {
    const auto copy = std::make_unique<loop_slot>(slot_);
    const uint64_t stall_ns = loop_in_progress(copy.get(), &look, is_waiting, resolution_ms_);
    require(stall_ns <= now_ns_ - slot_.poll_entry_ns, "no longer than since the poll");
    require(!is_waiting || stall_ns == 0, "who waits is not stuck");
    fuzz::require_forward(slot_, *copy);
    fuzz::require_consistent(*copy, begin_ns_, now_ns_);
  }

  loop_slot& slot_;
  uint64_t resolution_ms_ = 0;
  uint64_t begin_ns_ = 0;
  uint64_t now_ns_ = 0;
  uint64_t cpu_ns_ = 0;
  uint64_t runqueue_ns_ = 0;
};

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const auto slot = std::make_unique<loop_slot>();
  Thread thread(input, *slot);
  while (!input.empty()) thread.step(input);
  return 0;
}
