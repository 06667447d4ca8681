// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/backoff.h"

#include <algorithm>
#include <cmath>

namespace uvtap {

Backoff::Delay Backoff::next(double random) {
  const Delay step = next_;
  next_ = std::min(next_ * 2, last_);
  return spread(step, random);
}

Backoff::Delay Backoff::spread(Delay step, double random) {
  const auto most = static_cast<double>(step.count());
  return Delay(std::llround(most * (0.5 + random / 2)));
}

}  // namespace uvtap
