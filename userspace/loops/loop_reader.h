// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "userspace/discovery/proc_fs.h"
#include "userspace/loops/active_split.h"
#include "userspace/loops/believed_time.h"
#include "userspace/loops/calibration.h"
#include "userspace/loops/loop_snapshot.h"
#include "userspace/loops/loop_table.h"
#include "userspace/loops/memory_door.h"
#include "userspace/loops/turn_looks.h"
#include "userspace/symbols/libuv_layout.h"

namespace uvtap {

/// The processes whose loops are wanted, and how their libuv lays things out.
using LayoutOfProcess = std::map<pid_t, LibuvLayout>;

/// Turns slots into snapshots: what BPF has counted up to the last turn, and from the process's
/// memory what has passed since. Frees the slots of loops that are no more.
class LoopReader {
 public:
  /// `costs` are taken by what a loop's observation costs it.
  LoopReader(LoopTable& table, MemoryDoor& memory_door, const ProcFs& proc, BoundedLooks& looks,
             const DoorCosts& costs, uint64_t delay_resolution_ms)
      : table_(&table),
        memory_door_(&memory_door),
        looks_(proc, looks),
        costs_(costs),
        delay_resolution_ms_(delay_resolution_ms) {}

  /// One snapshot per loop. A loop that has ended is in it for a last time; a loop of a process
  /// that is not wanted is dropped.
  std::vector<LoopSnapshot> snapshot(const LayoutOfProcess& processes);

  /// Hits of the doors, those of loops that are no more included.
  [[nodiscard]] const std::array<uint64_t, FRONT_DOOR_COUNT>& hits() const { return hits_; }
  /// How often a process's memory could not be read when a snapshot wanted it.
  [[nodiscard]] uint64_t unreadable() const { return unreadable_; }

 private:
  /// What the last snapshot of a loop said; totals must never fall behind it.
  struct History {
    explicit History(uint64_t since_ns) : time(since_ns) {}
    BelievedTime time;
    uint64_t cpu_ns = 0;
    uint64_t runqueue_ns = 0;
    uint64_t hits = 0;
    double overhead_ns = 0;
    ActiveSplit split;
  };

  /// Loops that BPF counts, and then those that were sampled: one request for each.
  [[nodiscard]] static std::vector<TurnLookRequest> requests(
      const std::vector<LoopTable::Mark>& marks, const std::vector<loop_slot>& sampled,
      const LayoutOfProcess& processes);
  /// These work on slot_. A look from before the loop's last turn is of no use.
  LoopSnapshot take(const std::optional<TurnLook>& look, bool has_turned_since);
  void add_turn_in_progress(const std::optional<TurnLook>& seen, LoopSnapshot& snapshot);
  void add_totals(LoopSnapshot& snapshot);

  LoopTable* table_;
  MemoryDoor* memory_door_;
  TurnLooks looks_;
  DoorCosts costs_;
  uint64_t delay_resolution_ms_;
  loop_slot slot_{};  ///< the copy being worked on
  std::map<LoopId, History> histories_;
  std::array<uint64_t, FRONT_DOOR_COUNT> hits_{};
  uint64_t unreadable_ = 0;
};

}  // namespace uvtap
