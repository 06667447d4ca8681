// SPDX-License-Identifier: Apache-2.0
#include "userspace/util/log.h"

#include <spdlog/sinks/ostream_sink.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

using uvtap::LogFormat;
using uvtap::LogLimiter;

namespace {

constexpr uint64_t second_ns = 1'000'000'000;

std::string logged(LogFormat format, const std::string& message) {
  std::ostringstream stream;
  spdlog::logger logger("test", std::make_shared<spdlog::sinks::ostream_sink_st>(stream));
  logger.set_formatter(uvtap::make_log_formatter(format));
  logger.info("{}", message);
  return stream.str();
}

}  // namespace

TEST_CASE("a text line has time, level and message", "[log]") {
  const std::string line = logged(LogFormat::text, "two loops found");
  CHECK_THAT(
      line, Catch::Matches(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info     two loops found\n)"));
}

TEST_CASE("a message cannot forge a second text line", "[log]") {
  const std::string line = logged(LogFormat::text, "title a\n2026-01-01 error forged");
  CHECK(std::count(line.begin(), line.end(), '\n') == 1);
  CHECK(line.find("title a?2026") != std::string::npos);
}

TEST_CASE("a JSON line carries any message", "[log]") {
  const std::string message = "quote \" backslash \\ newline \n tab \t é";
  const std::string line = logged(LogFormat::json, message);
  CHECK(std::count(line.begin(), line.end(), '\n') == 1);
  const auto object = nlohmann::json::parse(line);
  CHECK(object.at("message") == message);
  CHECK(object.at("level") == "info");
  CHECK_THAT(object.at("time").get<std::string>(),
             Catch::Matches(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"));
}

TEST_CASE("a JSON line stays valid when the message is not UTF-8", "[log]") {
  const auto object = nlohmann::json::parse(logged(LogFormat::json, "bad \xff byte"));
  CHECK(object.at("message") == "bad \uFFFD byte");
}

TEST_CASE("a key has one line per minute, which tells how many were held back", "[log]") {
  LogLimiter limiter;
  CHECK(limiter.allow("pid 1", 5 * second_ns) == 0);
  CHECK_FALSE(limiter.allow("pid 1", 6 * second_ns));
  CHECK_FALSE(limiter.allow("pid 1", 64 * second_ns));
  CHECK(limiter.allow("pid 2", 64 * second_ns) == 0);
  CHECK(limiter.allow("pid 1", 65 * second_ns) == 2);
  CHECK_FALSE(limiter.allow("pid 1", 66 * second_ns));
}

TEST_CASE("the limiter remembers a bounded number of keys", "[log]") {
  LogLimiter limiter;
  for (size_t i = 0; i < LogLimiter::max_keys; ++i) {
    REQUIRE(limiter.allow(std::to_string(i), 0));
  }
  CHECK_FALSE(limiter.allow("one more", second_ns));
  CHECK(limiter.allow("one more", LogLimiter::interval_ns) == 0);
}
