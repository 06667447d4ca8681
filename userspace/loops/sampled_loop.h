// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bpf/loop_contract.h"
#include "userspace/loops/loop_memory.h"
#include "userspace/symbols/libuv_layout.h"

namespace uvtap {

/// A loop whose turns are inferred from two looks at libuv's counters.
class SampledLoop {
 public:
  /// `slot` is a first look; see find_loops().
  SampledLoop(const loop_slot& slot, const LibuvLayout& layout);

  /// Takes in the next look. False where its counters cannot be: counting starts anew from it.
  /// Whatever they say, the totals never exceed the time that has passed; only `taken_at_ns` is
  /// believed.
  bool advance(const LoopCounters& counters, uint64_t delay_resolution_ms);
  void end(uint64_t now_ns) { slot_.ended_ns = now_ns; }

  [[nodiscard]] const loop_slot& slot() const { return slot_; }
  [[nodiscard]] const LibuvLayout& layout() const { return layout_; }

 private:
  [[nodiscard]] bool are_impossible(const LoopCounters& counters) const;
  void begin_anew(const LoopCounters& counters, uint64_t delay_resolution_ms);
  void note_interruption(const LoopCounters& counters);
  [[nodiscard]] uint64_t turns_since_last_look(const LoopCounters& counters) const;
  void add_turns(uint64_t count, uint64_t end_ns, const LoopCounters& counters,
                 uint64_t delay_resolution_ms);

  loop_slot slot_;
  LibuvLayout layout_;
  LoopCounters last_;
};

}  // namespace uvtap
