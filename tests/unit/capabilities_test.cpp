// SPDX-License-Identifier: Apache-2.0
#include "userspace/util/capabilities.h"

#include <linux/capability.h>

#include <catch2/catch.hpp>
#include <thread>

namespace uvtap {
namespace {

TEST_CASE("a set of capabilities holds what it was given") {
  constexpr CapabilitySet set{CAP_BPF, CAP_SYS_PTRACE};
  CHECK(set.has(CAP_BPF));
  CHECK_FALSE(set.has(CAP_SYS_ADMIN));
  CHECK(set.without({CAP_BPF}) == CapabilitySet{CAP_SYS_PTRACE});
  CHECK((set & CapabilitySet{CAP_BPF, CAP_KILL}) == CapabilitySet{CAP_BPF});
  CHECK(CapabilitySet{}.empty());
}

TEST_CASE("capabilities have their names") {
  CHECK(to_string(CapabilitySet{CAP_BPF, CAP_SYS_PTRACE}) == "CAP_SYS_PTRACE, CAP_BPF");
  CHECK(to_string(CapabilitySet{CAP_CHOWN}) == "capability 0");
  CHECK(to_string(CapabilitySet{}).empty());
}

TEST_CASE("a thread that gives all up leaves those of the others alone") {
  const auto before = effective_capabilities();
  bool dropped = false;
  CapabilitySet left = before;
  std::thread([&] {
    dropped = drop_all_in_this_thread().has_value();
    left = effective_capabilities();
  }).join();
  CHECK(dropped);
  CHECK(left.empty());
  CHECK(effective_capabilities() == before);
}

TEST_CASE("what is done without for a while comes back") {
  const auto before = effective_capabilities();
  {
    const WithoutCapabilities without({CAP_SYS_ADMIN});
    CHECK(effective_capabilities() == before.without({CAP_SYS_ADMIN}));
  }
  CHECK(effective_capabilities() == before);
}

}  // namespace
}  // namespace uvtap
