// SPDX-License-Identifier: Apache-2.0
#include "userspace/util/patient_thread.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <ctime>
#include <thread>
#include <vector>

#include "userspace/util/unique_fd.h"

using namespace uvtap;
using namespace std::chrono_literals;

namespace {

constexpr PatientThread::Interval long_enough{10'000};
constexpr PatientThread::Interval brief{20};

/// A read that does not come back before it is let.
class Hold {
 public:
  Hold() {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    reading_ = std::make_shared<UniqueFd>(ends[0]);
    writing_ = UniqueFd(ends[1]);
  }
  [[nodiscard]] PatientThread::Work work() const {
    return [reading = reading_] {
      char byte = 0;
      while (read(reading->get(), &byte, 1) < 0) continue;
    };
  }
  void let_go() { writing_ = UniqueFd(); }
  /// Whether the work has let go of what it held.
  [[nodiscard]] bool is_released() const { return reading_.use_count() == 1; }

 private:
  std::shared_ptr<UniqueFd> reading_;
  UniqueFd writing_;
};

void await_none_abandoned() {
  while (PatientThread::abandoned() > 0) std::this_thread::yield();
}

}  // namespace

TEST_CASE("work that ends in time returns its value, all of it on one thread with its name") {
  PatientThread thread("patient");
  std::array<char, 16> name{};
  const auto first =
      thread.call([&] { return prctl(PR_GET_NAME, name.data()), gettid(); }, long_enough);
  const auto second = thread.call([] { return gettid(); }, long_enough);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(*first == *second);
  CHECK(*first != gettid());
  CHECK(std::string(name.data()) == "patient");
  CHECK(PatientThread::abandoned() == 0);
}

TEST_CASE("work that hangs is given up, and the next work is done all the same") {
  PatientThread thread("patient");
  Hold hold;
  REQUIRE_FALSE(thread.run([] {}, long_enough));
  const auto hang = thread.run(hold.work(), brief);
  REQUIRE(hang);
  CHECK_FALSE(hang->is_over());
  CHECK(PatientThread::abandoned() == 1);
  CHECK(thread.call([] { return 7; }, long_enough) == 7);

  hold.let_go();
  await_none_abandoned();
  CHECK(hang->is_over());
  CHECK(hold.is_released());
}

TEST_CASE("several hangs are told apart, and each thread ends by itself") {
  PatientThread thread("patient");
  std::array<Hold, 3> holds;
  std::vector<Hang> hangs;
  for (const Hold& hold : holds) hangs.push_back(*thread.run(hold.work(), brief));
  CHECK(PatientThread::abandoned() == 3);
  holds[1].let_go();
  while (!hangs[1].is_over()) std::this_thread::yield();
  CHECK_FALSE(hangs[0].is_over());
  CHECK_FALSE(hangs[2].is_over());
  holds[0].let_go();
  holds[2].let_go();
  await_none_abandoned();
}

TEST_CASE("work that computes for longer than it may wait is not given up") {
  PatientThread thread("patient");
  CHECK(thread.call(
            [] {
              timespec used{};
              while (used.tv_nsec < 5 * 20'000'000) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
              return 7;
            },
            brief) == 7);
  CHECK(thread.last_waited_ns() < 20'000'000);
}

TEST_CASE("what work has waited is known") {
  PatientThread thread("patient");
  CHECK_FALSE(thread.run([] { poll(nullptr, 0, 50); }, long_enough));
  CHECK(thread.last_waited_ns() > 30'000'000);
}

TEST_CASE("the one who waits may go while the work hangs") {
  Hold hold;
  {
    PatientThread thread("patient");
    thread.start(hold.work());
    CHECK_FALSE(thread.await(brief));
  }
  CHECK(PatientThread::abandoned() == 1);
  hold.let_go();
  await_none_abandoned();
}
