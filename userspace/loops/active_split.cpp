// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/active_split.h"

#include <algorithm>

namespace uvtap {
namespace {

/// One tick of the slowest usual clock (CONFIG_HZ=100).
constexpr uint64_t max_late_ns = 10'000'000;

}  // namespace

const ActiveParts& ActiveSplit::add(uint64_t active_ns, uint64_t cpu_ns, uint64_t runqueue_ns) {
  const uint64_t known_cpu_ns = cpu_ns + late_cpu_ns_;
  const uint64_t on_cpu_ns = std::min(known_cpu_ns, active_ns);
  late_cpu_ns_ = std::min(known_cpu_ns - on_cpu_ns, max_late_ns);
  const uint64_t queued_ns = std::min(runqueue_ns, active_ns - on_cpu_ns);
  total_.cpu_ns += on_cpu_ns;
  total_.runqueue_ns += queued_ns;
  total_.blocked_ns += active_ns - on_cpu_ns - queued_ns;
  return total_;
}

}  // namespace uvtap
