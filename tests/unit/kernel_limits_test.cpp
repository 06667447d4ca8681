// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/kernel_limits.h"

#include <catch2/catch.hpp>

namespace uvtap {
namespace {

TEST_CASE("lockdown is the word in brackets") {
  CHECK(parse_lockdown("[none] integrity confidentiality\n") == Lockdown::none);
  CHECK(parse_lockdown("none [integrity] confidentiality\n") == Lockdown::integrity);
  CHECK(parse_lockdown("none integrity [confidentiality]") == Lockdown::confidentiality);
}

TEST_CASE("a lockdown that is not known is none of them") {
  for (const char* text : {"", "none integrity", "[none", "none]", "][", "[] none", "[more]"})
    CHECK_FALSE(parse_lockdown(text));
}

TEST_CASE("of the kernel's command line the last lockdown counts that it knows") {
  CHECK(parse_lockdown_parameter("quiet lockdown=integrity ro\n") == Lockdown::integrity);
  CHECK(parse_lockdown_parameter("lockdown=integrity lockdown=confidentiality\n") ==
        Lockdown::confidentiality);
  CHECK(parse_lockdown_parameter("lockdown=integrity lockdown=strict") == Lockdown::integrity);
  CHECK_FALSE(parse_lockdown_parameter(""));
  CHECK_FALSE(parse_lockdown_parameter("quiet  ro lsm=lockdown,yama nolockdown=integrity"));
}

}  // namespace
}  // namespace uvtap
