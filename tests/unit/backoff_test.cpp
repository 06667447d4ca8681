// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/backoff.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace uvtap;
using Delay = Backoff::Delay;

TEST_CASE("each wait is twice the one before, up to the last") {
  Backoff backoff(Delay{1000}, Delay{30'000});
  std::vector<int64_t> waits;
  for (int i = 0; i < 7; ++i) waits.push_back(backoff.next(0).count() * 2);
  CHECK(waits == std::vector<int64_t>{1000, 2000, 4000, 8000, 16'000, 30'000, 30'000});
}

TEST_CASE("a wait is spread between half and all of its step") {
  CHECK(Backoff(Delay{1000}, Delay{30'000}).next(0.0) == Delay{500});
  CHECK(Backoff(Delay{1000}, Delay{30'000}).next(0.5) == Delay{750});
  CHECK(Backoff(Delay{1000}, Delay{30'000}).next(0.9999) == Delay{1000});
  CHECK(Backoff(Delay{1000}, Delay{30'000}).longest(0.0) == Delay{15'000});
}

TEST_CASE("after a success it starts anew") {
  Backoff backoff(Delay{1000}, Delay{30'000});
  for (int i = 0; i < 100; ++i) CHECK(backoff.next(0.5) <= Delay{30'000});
  backoff.reset();
  CHECK(backoff.next(0) == Delay{500});
}
