// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/calibration.h"

#include <catch2/catch.hpp>

using namespace uvtap;

TEST_CASE("each front door counts every turn of a loop of our own") {
  auto programs = BpfPrograms::load({.max_loops = 16});
  if (!programs) FAIL(programs.error().message);
  auto table = LoopTable::map(*programs);
  if (!table) FAIL(table.error().message);

  auto trials = try_front_doors(*programs, *table);

  REQUIRE(trials.size() == 3);
  for (const auto& trial : trials) {
    INFO(to_string(trial.door));
    if (!trial.seconds_per_hit) FAIL(trial.seconds_per_hit.error().message);
    CHECK(*trial.seconds_per_hit > 0);
    CHECK(*trial.seconds_per_hit < 100e-6);
    std::printf("%s: %.2f us per hit\n", std::string(to_string(trial.door)).c_str(),
                *trial.seconds_per_hit * 1e6);
  }
  CHECK(table->entries().empty());
}
