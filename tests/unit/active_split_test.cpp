// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/active_split.h"

#include <catch2/catch.hpp>

using uvtap::ActiveSplit;

namespace {
constexpr uint64_t ms = 1'000'000;
}

TEST_CASE("what is neither on a CPU nor queued is blocked") {
  ActiveSplit split;
  split.add(100 * ms, 60 * ms, 10 * ms);
  CHECK(split.total().cpu_ns == 60 * ms);
  CHECK(split.total().runqueue_ns == 10 * ms);
  CHECK(split.total().blocked_ns == 30 * ms);
}

TEST_CASE("the parts never exceed the active time") {
  ActiveSplit split;
  split.add(10 * ms, 12 * ms, 50 * ms);  // CPU and queue time of the waiting come with it
  CHECK(split.total().cpu_ns == 10 * ms);
  CHECK(split.total().runqueue_ns == 0);
  CHECK(split.total().blocked_ns == 0);
}

TEST_CASE("CPU time that the kernel reports a step late is not lost") {
  ActiveSplit split;
  split.add(100 * ms, 104 * ms, 0);
  split.add(100 * ms, 96 * ms, 0);
  CHECK(split.total().cpu_ns == 200 * ms);
  CHECK(split.total().blocked_ns == 0);
}

TEST_CASE("CPU time of the waiting does not pile up to hide what blocks later") {
  ActiveSplit split;
  for (int step = 0; step < 100; ++step) split.add(1 * ms, 5 * ms, 0);
  split.add(500 * ms, 0, 0);
  CHECK(split.total().blocked_ns >= 490 * ms);
}
