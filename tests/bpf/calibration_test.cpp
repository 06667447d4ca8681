// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/calibration.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "userspace/probes/uprobe_multi.h"

using namespace uvtap;

namespace {

/// More than 1 on an emulated machine.
double patience() {
  const char* text = std::getenv("UVTAP_E2E_PATIENCE");
  return text ? std::atof(text) : 1;
}

void check_doors(UprobeWay way) {
  auto programs = BpfPrograms::load({.max_loops = 16, .uprobe_way = way});
  if (!programs) FAIL(programs.error().message);
  auto table = LoopTable::map(*programs);
  if (!table) FAIL(table.error().message);

  auto trials = try_front_doors(*programs, *table);

  REQUIRE(trials.size() == 3);
  for (const auto& trial : trials) {
    INFO(to_string(trial.door));
    if (!trial.seconds_per_hit) FAIL(trial.seconds_per_hit.error().message);
    CHECK(*trial.seconds_per_hit > 0);
    CHECK(*trial.seconds_per_hit < 100e-6 * patience());
    std::printf("%s, %s: %.2f us per hit\n", std::string(to_string(way)).c_str(),
                std::string(to_string(trial.door)).c_str(), *trial.seconds_per_hit * 1e6);
  }
  CHECK(table->entries().empty());
}

}  // namespace

TEST_CASE("each front door counts every turn of two loops of our own") {
  SECTION("with perf events") { check_doors(UprobeWay::perf_event); }
  SECTION("with uprobe_multi links") {
    if (has_uprobe_multi()) {
      check_doors(UprobeWay::uprobe_multi);
    } else {
      WARN("skipped: this kernel has no uprobe_multi links");
    }
  }
}

TEST_CASE("uprobe_multi links are used where the kernel has them") {
  auto programs = BpfPrograms::load({.max_loops = 16});
  if (!programs) FAIL(programs.error().message);
  CHECK((programs->uprobe_way() == UprobeWay::uprobe_multi) == has_uprobe_multi());
}
