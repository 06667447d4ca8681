// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace uvtap {

/// A loop's active and idle time as far as it can be believed: neither total ever falls, and
/// together they grow no faster than the clock. What a look into memory promised of a turn may turn
/// out to have been wrong, or a lie: then a part of that time would be counted twice, as both.
class BelievedTime {
 public:
  /// `since_ns`: when the loop was first observed.
  explicit BelievedTime(uint64_t since_ns) : at_ns_(since_ns) {}

  struct Parts {
    uint64_t active_ns = 0;
    uint64_t idle_ns = 0;
  };
  /// The totals that are said to hold at a moment; returns what is believed to have been added.
  Parts add(uint64_t at_ns, const Parts& said);
  [[nodiscard]] const Parts& total() const { return total_; }

 private:
  uint64_t at_ns_;
  Parts said_;
  Parts total_;
};

}  // namespace uvtap
