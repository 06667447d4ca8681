// SPDX-License-Identifier: Apache-2.0
#include "userspace/util/duration.h"

#include <catch2/catch.hpp>

using uvtap::parse_duration_ns;

TEST_CASE("a duration is a whole number and its unit", "[duration]") {
  CHECK(parse_duration_ns("500ms") == 500'000'000);
  CHECK(parse_duration_ns("15s") == 15'000'000'000);
  CHECK(parse_duration_ns("2m") == 120'000'000'000);
  CHECK(parse_duration_ns("0s") == 0);
}

TEST_CASE("anything else is no duration", "[duration]") {
  const char* text = GENERATE("", "s", "15", "15 s", " 15s", "15s ", "+15s", "-15s", "1.5s", "15S",
                              "15h", "15sec", "0x10s", "1m30s", "99999999999999999999s");
  CAPTURE(text);
  const auto duration = parse_duration_ns(text);
  REQUIRE_FALSE(duration);
  CHECK(duration.error().message.find(text) != std::string::npos);
}

TEST_CASE("a duration that does not fit is refused", "[duration]") {
  CHECK(parse_duration_ns("18446744073s") == 18'446'744'073'000'000'000U);
  CHECK_FALSE(parse_duration_ns("18446744074s"));
  CHECK_FALSE(parse_duration_ns("18446744073709551615m"));
}
