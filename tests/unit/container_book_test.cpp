// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/container_book.h"

#include <catch2/catch.hpp>
#include <list>
#include <string>
#include <vector>

#include "tests/support/synthetic_loop.h"

namespace uvtap {
namespace {

constexpr uint64_t born = 1'000 * second;

PodIdentity pod(const std::string& name) {
  return {.namespace_ = "shop",
          .pod = name,
          .container = "app",
          .workload_kind = "Deployment",
          .workload = "web",
          .process = ""};
}

/// A machine with containers, loops and a clock; each tick passes a second and updates the book.
class Machine {
 public:
  SyntheticLoop& add_loop(const PodIdentity& identity, bool is_worker = false) {
    members_.push_back({SyntheticLoop(next_pid_++, now_, is_worker), identity});
    return members_.back().loop;
  }
  void remove_loop(const SyntheticLoop& loop) {
    std::erase_if(members_, [&](const Member& member) { return &member.loop == &loop; });
  }
  void set_live(const PodIdentity& identity, const ProcessInfo& info = {"22.1.0", "1.51.0"}) {
    live_.push_back({identity, info});
  }
  void set_dead(const PodIdentity& identity) {
    std::erase_if(live_, [&](const LiveProcess& process) { return process.identity == identity; });
  }

  std::vector<ContainerMetrics> tick() {
    now_ += second;
    std::vector<ObservedLoop> loops;
    for (const Member& member : members_) {
      loops.push_back({&member.loop.snapshot(), &member.identity});
    }
    return book.update(now_, loops, live_);
  }

  ContainerBook book{15 * second};

 private:
  struct Member {
    SyntheticLoop loop;
    PodIdentity identity;
  };
  std::list<Member> members_;  ///< a list: the loops are referred to while others are removed
  std::vector<LiveProcess> live_;
  uint64_t now_ = born;
  pid_t next_pid_ = 100;
};

TEST_CASE("main loops and Worker loops are kept apart") {
  Machine machine;
  machine.set_live(pod("a"));
  auto& main_loop = machine.add_loop(pod("a"));
  auto& worker = machine.add_loop(pod("a"), true);
  main_loop.idle(second);
  worker.turn(second);
  const auto metrics = machine.tick();
  REQUIRE(metrics.size() == 1);
  CHECK(metrics[0].identity == pod("a"));
  CHECK(metrics[0].runtimes == std::set<ProcessInfo>{{"22.1.0", "1.51.0"}});
  REQUIRE(metrics[0].main);
  REQUIRE(metrics[0].workers);
  CHECK(metrics[0].main->loops == 1);
  CHECK(metrics[0].main->window->utilization == 0);
  CHECK(metrics[0].workers->loops == 1);
  CHECK(metrics[0].workers->window->utilization == 1);
}

TEST_CASE("a container without Workers has no Worker group") {
  Machine machine;
  machine.set_live(pod("a"));
  machine.add_loop(pod("a")).idle(second);
  CHECK_FALSE(machine.tick().at(0).workers);
}

TEST_CASE("a live process whose loop has not been seen yet exposes nothing") {
  Machine machine;
  machine.set_live(pod("a"));
  CHECK(machine.tick().empty());
}

TEST_CASE("cumulative series keep what ended loops did") {
  Machine machine;
  machine.set_live(pod("a"));
  auto& stays = machine.add_loop(pod("a"));
  auto& ends = machine.add_loop(pod("a"));
  stays.turn(100 * ms);
  stays.idle(900 * ms);
  ends.turn(700 * ms);
  ends.be_busy(300 * ms);
  const auto before = machine.tick();
  CHECK(before[0].main->loops == 2);
  CHECK(before[0].main->stall_seconds == Approx(0.3));
  CHECK(before[0].main->cumulative.totals.active_ns == 1'100 * ms);

  machine.remove_loop(ends);
  stays.idle(second);
  const auto after = machine.tick();
  REQUIRE(after.size() == 1);
  CHECK(after[0].main->loops == 1);
  CHECK(after[0].main->stall_seconds == 0);
  CHECK(after[0].main->cumulative.totals.active_ns == 1'100 * ms);
  CHECK(after[0].main->cumulative.totals.idle_ns == 1'900 * ms);
  // The end finished the stretch that was in progress.
  CHECK(after[0].main->cumulative.totals.turns == 3);
  CHECK(after[0].main->cumulative.turns.count == 3);
  CHECK(after[0].main->cumulative.waits.sum_seconds ==
        Approx(before[0].main->cumulative.waits.sum_seconds));
  // The window still knows it, too.
  CHECK(after[0].main->window->utilization == Approx(1.1 / 3));
  CHECK(after[0].main->window->utilization_max == 1);
}

TEST_CASE("the last snapshot of a loop counts once") {
  Machine machine;
  machine.set_live(pod("a"));
  machine.add_loop(pod("a")).idle(second);
  auto& worker = machine.add_loop(pod("a"), true);
  worker.be_busy(400 * ms);
  worker.end();
  const auto last = machine.tick();
  CHECK(last[0].workers->loops == 0);
  CHECK(last[0].workers->cumulative.totals.turns == 1);
  machine.remove_loop(worker);
  const auto after = machine.tick();
  CHECK(after[0].workers->cumulative.totals.turns == 1);
  CHECK(after[0].workers->cumulative.totals.active_ns == 400 * ms);
}

TEST_CASE("an ended loop is forgotten when it has left the window, its counters are not") {
  Machine machine;
  machine.set_live(pod("a"));
  auto& stays = machine.add_loop(pod("a"));
  auto& worker = machine.add_loop(pod("a"), true);
  const LoopId id = worker.snapshot().id;
  worker.turn(second);
  stays.idle(second);
  machine.tick();
  machine.remove_loop(worker);
  std::vector<ContainerMetrics> metrics;
  for (int i = 0; i < 14; ++i) {
    stays.idle(second);
    metrics = machine.tick();
    CHECK(metrics[0].workers->window->utilization == 1);
  }
  stays.idle(second);
  metrics = machine.tick();
  CHECK_FALSE(metrics[0].workers->window);
  CHECK(metrics[0].workers->loops == 0);
  CHECK(metrics[0].workers->cumulative.totals.active_ns == second);
  CHECK(machine.book.window(id) == nullptr);
}

TEST_CASE("a container that is gone leaves at once, and comes back as a new one") {
  Machine machine;
  machine.set_live(pod("a"));
  machine.set_live(pod("b"));
  auto& a = machine.add_loop(pod("a"));
  auto& b = machine.add_loop(pod("b"));
  a.turn(second);
  b.turn(second);
  CHECK(machine.tick().size() == 2);

  machine.set_dead(pod("a"));
  const LoopId gone = a.snapshot().id;
  SECTION("when its loop has gone too") { machine.remove_loop(a); }
  SECTION("even when its loop is still reported") {}
  b.turn(second);
  const auto rest = machine.tick();
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].identity == pod("b"));
  CHECK(machine.book.window(gone) == nullptr);
  machine.set_live(pod("a"));
  machine.add_loop(pod("a")).idle(second);
  machine.tick();
}

TEST_CASE("a loop moves when its identity becomes known; nothing is counted twice") {
  Machine machine;
  const PodIdentity unknown{.namespace_ = "",
                            .pod = "",
                            .container = "",
                            .workload_kind = "",
                            .workload = "",
                            .process = "server.js/1"};
  machine.set_live(unknown);
  auto& loop = machine.add_loop(unknown);
  loop.turn(second);
  machine.tick();
  const LoopSnapshot first = loop.snapshot();

  ContainerBook& book = machine.book;
  loop.turn(400 * ms);
  loop.idle(600 * ms);
  const PodIdentity known = pod("a");
  const std::vector observed{ObservedLoop{&loop.snapshot(), &known}};
  const std::vector live{LiveProcess{known, {}}};
  const auto metrics = book.update(first.taken_at_ns + second, observed, live);
  REQUIRE(metrics.size() == 1);
  CHECK(metrics[0].identity == known);
  CHECK(metrics[0].main->cumulative.totals.active_ns == 400 * ms);
  CHECK(metrics[0].main->window->utilization == Approx(0.7));
}

TEST_CASE("a container cannot have any number of runtimes") {
  Machine machine;
  machine.add_loop(pod("a"));
  std::set<ProcessInfo> shown;
  for (int version = 0; version < 20; ++version) {
    machine.set_dead(pod("a"));
    machine.set_live(pod("a"), {std::to_string(version) + ".0.0", "1.51.0"});
    const auto metrics = machine.tick();
    REQUIRE(metrics.size() == 1);
    shown.insert(metrics[0].runtimes.begin(), metrics[0].runtimes.end());
  }
  CHECK(shown.size() == ContainerBook::max_runtimes + 1);
  CHECK(shown.contains(ProcessInfo{}));  // those that came too late
  CHECK(machine.book.limited_runtimes() == 20 - ContainerBook::max_runtimes);
}

TEST_CASE("a hundred short Workers all count") {
  Machine machine;
  machine.set_live(pod("a"));
  auto& main_loop = machine.add_loop(pod("a"));
  std::vector<ContainerMetrics> metrics;
  uint64_t active_before = 0;
  for (int i = 0; i < 100; ++i) {
    main_loop.idle(second);
    auto& worker = machine.add_loop(pod("a"), true);
    worker.turn(300 * ms);
    worker.end();
    metrics = machine.tick();
    CHECK(metrics[0].workers->cumulative.totals.active_ns > active_before);
    active_before = metrics[0].workers->cumulative.totals.active_ns;
    machine.remove_loop(worker);
  }
  CHECK(active_before == 30 * second);
  CHECK(metrics[0].workers->window->utilization == 1);
}

}  // namespace
}  // namespace uvtap
