// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/watch_state.h"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <sstream>
#include <string>

using namespace uvtap;

namespace {

/// Collects what is logged while it lives.
class Logged {
 public:
  Logged() : before_(spdlog::default_logger()) {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(out_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::move(sink)));
  }
  ~Logged() { spdlog::set_default_logger(before_); }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;

  [[nodiscard]] long lines() const { return std::ranges::count(out_.str(), '\n'); }

 private:
  std::shared_ptr<spdlog::logger> before_;
  std::ostringstream out_;
};

const KubeFailure refused{KubeReason::unreachable, "nobody there"};
const KubeFailure forbidden{KubeReason::forbidden, "no permission"};

}  // namespace

TEST_CASE("a watch that has not got anywhere yet is neither synced nor failing") {
  WatchState state;
  CHECK_FALSE(state.snapshot().synced);
  CHECK_FALSE(state.snapshot().failing);
  CHECK(state.errors().size() == kube_reason_names.size() + 1);
  for (const auto& [reason, count] : state.errors()) CHECK(count == 0);
}

TEST_CASE("each failure is counted, each reason said once") {
  const Logged logged;
  WatchState state;
  for (int i = 0; i < 5; ++i) state.fails(refused);
  CHECK(logged.lines() == 1);
  state.fails(forbidden);
  CHECK(logged.lines() == 2);
  CHECK(state.errors().at("unreachable") == 5);
  CHECK(state.errors().at("forbidden") == 1);
  CHECK(state.snapshot().failing);
  CHECK(state.snapshot().last_error == "no permission");
}

TEST_CASE("the first list and the end of a failure are said once") {
  const Logged logged;
  WatchState state;
  state.fails(refused);
  state.listed(3);
  state.works();
  CHECK(logged.lines() == 2);
  CHECK(state.snapshot().synced);
  CHECK_FALSE(state.snapshot().failing);
  state.listed(4);
  state.works();
  CHECK(logged.lines() == 2);
  state.fails(forbidden);
  state.works();
  state.works();
  CHECK(logged.lines() == 4);
}

TEST_CASE("a server that fails and works by turns does not flood the log") {
  const Logged logged;
  WatchState state;
  for (int i = 0; i < 100; ++i) {
    state.fails(refused);
    state.works();
  }
  CHECK(logged.lines() == 2);
  CHECK(state.errors().at("unreachable") == 100);
}

TEST_CASE("what will soon be right is counted, and is no failure") {
  const Logged logged;
  WatchState state;
  state.counts(KubeReason::gone);
  CHECK(state.errors().at("gone") == 1);
  CHECK_FALSE(state.snapshot().failing);
  CHECK(logged.lines() == 0);
}

TEST_CASE("what a server says is made fit for a line") {
  const Logged logged;
  WatchState state;
  state.fails({KubeReason::tls, "subject \x1b[31m\n" + std::string(1000, 'x')});
  CHECK(state.snapshot().last_error.starts_with("subject ?[31m?xxx"));
  CHECK(state.snapshot().last_error.size() == 300);
}

TEST_CASE("too many pods are counted, and said once") {
  const Logged logged;
  WatchState state;
  state.has_too_many_pods();
  state.has_too_many_pods();
  CHECK(state.errors().at("too_many_pods") == 2);
  CHECK(logged.lines() == 1);
}
