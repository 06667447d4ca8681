// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "userspace/loops/loop_table.h"
#include "userspace/probes/bpf_programs.h"
#include "userspace/probes/front_door.h"

namespace uvtap {

/// One front door, tried for real on this machine.
struct DoorTrial {
  front_door door = FRONT_DOOR_NONE;
  Result<double> seconds_per_hit;  ///< what a hit costs the application; or why it does not work
};

/// Observes made-up loops of this very process through each probing front door, checks that every
/// turn was counted on two threads, detaches, and tells what a hit cost. Takes some 20 ms.
[[nodiscard]] std::vector<DoorTrial> try_front_doors(BpfPrograms& programs, LoopTable& table);

/// What a hit of each door costs, in seconds; 0 where no probe is hit or it was not measured.
using DoorCosts = std::array<double, FRONT_DOOR_COUNT>;
[[nodiscard]] DoorCosts door_costs(const std::vector<DoorTrial>& trials);

/// The doors that work, the cheapest first, and last the one that needs no probe.
[[nodiscard]] std::vector<front_door> usable_doors(const std::vector<DoorTrial>& trials);

}  // namespace uvtap
