// SPDX-License-Identifier: Apache-2.0
#include "userspace/discovery/process_tracker.h"

#include <catch2/catch.hpp>

#include "tests/support/fake_proc.h"

using namespace uvtap;
using uvtap::test::FakeProc;

namespace {

struct Tracked {
  FakeProc fake;
  ProcFs proc{fake.root()};
  ProcessTracker tracker;

  ProcessChanges scan() { return tracker.scan(proc).value(); }
  ProcessChanges look() { return tracker.look_at_noted(proc); }
};

using Ids = std::vector<ProcessId>;

}  // namespace

TEST_CASE("processes appear and go", "[process_tracker]") {
  Tracked tracked;
  tracked.fake.process(10, 100);
  tracked.fake.process(20, 200);
  CHECK(tracked.scan().appeared == Ids{{10, 100, 1}, {20, 200, 2}});

  const ProcessChanges nothing = tracked.scan();
  CHECK(nothing.gone.empty());
  CHECK(nothing.appeared.empty());

  tracked.fake.remove("10");
  const ProcessChanges changes = tracked.scan();
  CHECK(changes.gone == Ids{{10, 100, 1}});
  CHECK(changes.appeared.empty());
}

TEST_CASE("a pid used again is another process", "[process_tracker]") {
  Tracked tracked;
  tracked.fake.process(10, 100);
  tracked.scan();
  tracked.fake.process(10, 101);
  const ProcessChanges changes = tracked.scan();
  CHECK(changes.gone == Ids{{10, 100, 1}});
  CHECK(changes.appeared == Ids{{10, 101, 2}});
}

TEST_CASE("a zombie is gone", "[process_tracker]") {
  Tracked tracked;
  tracked.fake.process(10, 100);
  tracked.fake.process(11, 100, 'Z');
  CHECK(tracked.scan().appeared == Ids{{10, 100, 1}});
  tracked.fake.process(10, 100, 'Z');
  CHECK(tracked.scan().gone == Ids{{10, 100, 1}});
}

TEST_CASE("an exec makes a process anew", "[process_tracker]") {
  Tracked tracked;
  tracked.fake.process(10, 100);
  tracked.scan();
  tracked.tracker.note_exec(10);
  const ProcessChanges changes = GENERATE(true, false) ? tracked.scan() : tracked.look();
  CHECK(changes.gone == Ids{{10, 100, 1}});
  CHECK(changes.appeared == Ids{{10, 100, 2}});
  CHECK(tracked.scan().appeared.empty());
}

TEST_CASE("a noted process is looked at without a scan", "[process_tracker]") {
  Tracked tracked;
  tracked.fake.process(10, 100);
  tracked.fake.process(20, 200);
  tracked.tracker.note_exec(20);
  CHECK(tracked.look().appeared == Ids{{20, 200, 1}});
  CHECK(tracked.look().appeared.empty());
}

TEST_CASE("a fork that a scan has seen already is no news", "[process_tracker]") {
  Tracked tracked;
  tracked.fake.process(10, 100);
  tracked.scan();
  tracked.tracker.note_fork(10);
  const ProcessChanges changes = tracked.look();
  CHECK(changes.gone.empty());
  CHECK(changes.appeared.empty());
}

TEST_CASE("a process that vanished before the look is not there", "[process_tracker]") {
  Tracked tracked;
  tracked.tracker.note_exec(10);
  tracked.tracker.note_exit(11);
  const ProcessChanges changes = tracked.look();
  CHECK(changes.gone.empty());
  CHECK(changes.appeared.empty());
}

TEST_CASE("a process on its way out is gone at once", "[process_tracker]") {
  Tracked tracked;
  tracked.fake.process(10, 100);
  tracked.scan();
  tracked.tracker.note_exit(10);
  const ProcessChanges changes = tracked.look();  // its directory is still there
  CHECK(changes.gone == Ids{{10, 100, 1}});
  CHECK(changes.appeared.empty());

  SECTION("and stays gone") {
    tracked.fake.remove("10");
    const ProcessChanges later = tracked.scan();
    CHECK(later.gone.empty());
    CHECK(later.appeared.empty());
  }
  SECTION("but is taken back if the next look still finds it") {
    CHECK(tracked.scan().appeared == Ids{{10, 100, 2}});
  }
}

TEST_CASE("exit and fork between two looks: another process, be it of the same tick",
          "[process_tracker]") {
  Tracked tracked;
  tracked.fake.process(10, 100);
  tracked.scan();
  tracked.tracker.note_exit(10);
  tracked.tracker.note_fork(10);
  const ProcessChanges changes = tracked.look();
  CHECK(changes.gone == Ids{{10, 100, 1}});
  CHECK(changes.appeared == Ids{{10, 100, 2}});
}

TEST_CASE("a scan that cannot list anything loses nothing", "[process_tracker]") {
  Tracked tracked;
  tracked.fake.process(10, 100);
  tracked.scan();
  CHECK_FALSE(tracked.tracker.scan(ProcFs(tracked.fake.root() + "/missing")));
  const ProcessChanges changes = tracked.scan();
  CHECK(changes.gone.empty());
  CHECK(changes.appeared.empty());
}
