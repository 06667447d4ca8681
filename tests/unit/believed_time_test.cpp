// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/believed_time.h"

#include <catch2/catch.hpp>

using namespace uvtap;

TEST_CASE("what can be is believed") {
  BelievedTime time(1000);
  auto gained = time.add(1100, {.active_ns = 30, .idle_ns = 70});
  CHECK(gained.active_ns == 30);
  CHECK(gained.idle_ns == 70);
  gained = time.add(1200, {.active_ns = 130, .idle_ns = 70});
  CHECK(gained.active_ns == 100);
  CHECK(gained.idle_ns == 0);
}

TEST_CASE("a loop that claims to wait and turns out to have worked is not counted twice") {
  BelievedTime time(0);
  for (uint64_t second = 1; second < 3600; ++second) time.add(second, {.idle_ns = second});
  const auto gained = time.add(3600, {.active_ns = 3600, .idle_ns = 0});
  CHECK(gained.active_ns == 1);
  CHECK(time.total().active_ns + time.total().idle_ns == 3600);
}

TEST_CASE("no total falls, and years that have not passed are not believed") {
  BelievedTime time(0);
  time.add(100, {.active_ns = 50, .idle_ns = 50});
  auto gained = time.add(200, {.active_ns = 0, .idle_ns = 0});
  CHECK(gained.active_ns + gained.idle_ns == 0);
  gained = time.add(300, {.active_ns = ~uint64_t{0}, .idle_ns = ~uint64_t{0}});
  CHECK(gained.active_ns + gained.idle_ns == 100);
  gained = time.add(250, {.active_ns = 60, .idle_ns = 60});  // a clock that went back
  CHECK(gained.active_ns + gained.idle_ns == 0);
  CHECK(time.total().active_ns + time.total().idle_ns == 200);
}
