// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/believed_time.h"

#include <algorithm>

#include "userspace/loops/raise.h"

namespace uvtap {

BelievedTime::Parts BelievedTime::add(uint64_t at_ns, const Parts& said) {
  const uint64_t passed_ns = raise(at_ns_, at_ns);
  Parts gained;
  gained.active_ns = std::min(raise(said_.active_ns, said.active_ns), passed_ns);
  gained.idle_ns = std::min(raise(said_.idle_ns, said.idle_ns), passed_ns - gained.active_ns);
  total_.active_ns += gained.active_ns;
  total_.idle_ns += gained.idle_ns;
  return gained;
}

}  // namespace uvtap
