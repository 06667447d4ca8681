// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace uvtap {

/// How long to wait before trying again: twice as long each time up to a limit, and never at the
/// same moment as everybody else.
class Backoff {
 public:
  using Delay = std::chrono::milliseconds;

  Backoff(Delay first, Delay last) : first_(first), last_(last), next_(first) {}

  /// The next wait: between half and all of the current step. `random` is in [0, 1).
  [[nodiscard]] Delay next(double random);
  /// The longest wait, for what will not be better soon.
  [[nodiscard]] Delay longest(double random) const { return spread(last_, random); }
  /// What was tried has worked.
  void reset() { next_ = first_; }

 private:
  [[nodiscard]] static Delay spread(Delay step, double random);

  Delay first_;
  Delay last_;
  Delay next_;
};

}  // namespace uvtap
