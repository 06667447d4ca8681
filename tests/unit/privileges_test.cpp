// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/privileges.h"

#include <catch2/catch.hpp>

namespace uvtap {
namespace {

TEST_CASE("two sets of capabilities suffice, and what else is missing is named") {
  CHECK(missing_capabilities({CAP_SYS_ADMIN, CAP_SYS_PTRACE}).empty());
  CHECK(missing_capabilities({CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE}).empty());
  CHECK(missing_capabilities({}) == CapabilitySet{CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE});
  CHECK(missing_capabilities({CAP_SYS_ADMIN}) == CapabilitySet{CAP_SYS_PTRACE});
  CHECK(missing_capabilities({CAP_BPF, CAP_SYS_PTRACE}) == CapabilitySet{CAP_PERFMON});
}

TEST_CASE("CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON") {
  CHECK(may_use_bpf({CAP_SYS_ADMIN}));
  CHECK(may_use_bpf({CAP_BPF, CAP_PERFMON}));
  CHECK_FALSE(may_use_bpf({CAP_BPF}));
  CHECK_FALSE(may_use_bpf({CAP_PERFMON, CAP_SYS_PTRACE}));
}

}  // namespace
}  // namespace uvtap
