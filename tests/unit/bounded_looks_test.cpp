// SPDX-License-Identifier: Apache-2.0
#include "userspace/discovery/bounded_looks.h"

#include <poll.h>

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace uvtap;

namespace {

constexpr uint64_t second_ns = 1'000'000'000;

/// Ten processes to a container.
std::string container_of(pid_t pid) { return fmt::format("container {}", pid / 10); }

class Looker {
 public:
  void pass(uint64_t time_ns) { now_ns_ += time_ns; }
  std::shared_ptr<std::atomic<bool>> hang_at(pid_t pid) {
    auto over = std::make_shared<std::atomic<bool>>(false);
    looks.note_hang(pid, "its memory", Hang(over));
    return over;
  }
  /// A second later, since only few hangs may begin in one.
  bool answers_next_second(pid_t pid) {
    pass(second_ns);
    return looks.answers(pid);
  }

 private:
  uint64_t now_ns_ = 1000 * second_ns;

 public:
  BoundedLooks looks{container_of, [this] { return now_ns_; }};
};

}  // namespace

TEST_CASE("a look that ends gives its value") {
  Looker looker;
  CHECK(looker.looks.look(11, "its memory", [] { return 7; }) == 7);
  CHECK(looker.looks.given_up() == 0);
}

TEST_CASE("a look that hangs is given up, and its container is passed over while it does") {
  BoundedLooks looks(container_of);
  auto gate = std::make_shared<std::atomic<bool>>(false);
  const auto seen = looks.look(11, "its memory", [gate] {
    gate->wait(false);
    return 7;
  });
  REQUIRE_FALSE(seen);
  CHECK(seen.error() == NoLook::hung);
  CHECK(looks.given_up() == 1);
  CHECK(looks.hanging() == 1);
  CHECK(looks.look(12, "its memory", [] { return 7; }).error() == NoLook::passed_over);
  CHECK(looks.look(21, "its memory", [] { return 7; }) == 7);

  *gate = true;
  gate->notify_all();
  while (looks.hanging() > 0) std::this_thread::yield();
  CHECK(looks.look(12, "its memory", [] { return 7; }) == 7);
  while (PatientThread::abandoned() > 0) std::this_thread::yield();
}

TEST_CASE("one container takes no more than its share of time, however often it lets go") {
  Looker looker;
  const auto slow = [] {
    poll(nullptr, 0, 100);
    return 7;
  };
  int looks = 0;
  while (looker.looks.look(11, "its memory", slow)) ++looks;
  CHECK(looks >= 2);
  CHECK(looks <= 6);
  CHECK(looker.looks.answers(12));
  CHECK(looker.looks.look(12, "its memory", [] { return 7; }).error() == NoLook::passed_over);
  CHECK(looker.looks.look(21, "its memory", [] { return 7; }) == 7);
  looker.pass(BoundedLooks::period_ns);
  CHECK(looker.looks.look(12, "its memory", [] { return 7; }) == 7);
}

TEST_CASE("quick looks are free") {
  Looker looker;
  for (int i = 0; i < 1000; ++i)
    REQUIRE(looker.looks.look(11, "its memory", [] { return 7; }) == 7);
}

TEST_CASE("many containers that hang at once cost half a second of each second") {
  Looker looker;
  std::vector<std::shared_ptr<std::atomic<bool>>> hangs;
  for (size_t i = 0; i < BoundedLooks::max_new_hangs; ++i)
    hangs.push_back(looker.hang_at(static_cast<pid_t>(i * 10)));
  CHECK_FALSE(looker.looks.answers(1001));
  CHECK(looker.answers_next_second(1001));
}

TEST_CASE("beyond a limit of hanging looks there are none at all, until one ends") {
  Looker looker;
  std::vector<std::shared_ptr<std::atomic<bool>>> hangs;
  for (size_t i = 0; i < BoundedLooks::max_hanging; ++i)
    hangs.push_back(looker.hang_at(static_cast<pid_t>(i * 10)));
  CHECK_FALSE(looker.answers_next_second(10'001));
  *hangs.front() = true;
  CHECK(looker.answers_next_second(10'001));
  CHECK_FALSE(looker.answers_next_second(15));
}
