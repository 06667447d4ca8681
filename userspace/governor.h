// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "userspace/loops/calibration.h"
#include "userspace/loops/loop_snapshot.h"

namespace uvtap {

/// How a process is observed now.
struct GovernedProcess {
  front_door home = FRONT_DOOR_NONE;  ///< the best door that it has
  bool is_spared = false;             ///< watched without a probe, to keep within the budget
};

/// A process that is to be watched in another way from now on.
struct Move {
  pid_t pid = 0;
  bool spare = false;  ///< else: back to its own front door
  double ratio = 0;    ///< of one CPU: what its probe costs it, or would cost
};

/// Keeps what observing costs each process within a budget. Two ticks above it and the process is
/// spared its probe; five calm ticks and it gets the probe back, but not before a pause, which
/// doubles with each relapse. There is no step in between: the tracepoint would be paid for by
/// every system call of the machine, see docs/decisions/governor.md.
class Governor {
 public:
  /// The budget is a share of one CPU, for each process.
  Governor(double budget_ratio, const DoorCosts& costs)
      : budget_ratio_(budget_ratio), costs_(costs) {}

  /// Takes in one tick's snapshots and says who is to be moved.
  [[nodiscard]] std::vector<Move> judge(uint64_t now_ns, std::span<const LoopSnapshot> loops,
                                        const std::map<pid_t, GovernedProcess>& processes);

 private:
  struct Gain {
    uint64_t overhead_ns = 0;
    uint64_t turns = 0;
  };
  struct Record {
    unsigned ticks_above = 0;
    unsigned ticks_calm = 0;
    uint64_t pause_ns = 0;
    uint64_t spared_until_ns = 0;
  };
  [[nodiscard]] std::map<pid_t, Gain> gains(std::span<const LoopSnapshot> loops);
  [[nodiscard]] bool is_to_be_spared(Record& record, double ratio, uint64_t now_ns) const;
  [[nodiscard]] bool may_come_back(Record& record, double ratio, uint64_t now_ns) const;

  double budget_ratio_;
  DoorCosts costs_;
  std::map<LoopId, Gain> totals_;  ///< as of the last tick
  uint64_t last_tick_ns_ = 0;
  std::map<pid_t, Record> records_;
};

}  // namespace uvtap
