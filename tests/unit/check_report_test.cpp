// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/check_report.h"

#include <linux/capability.h>

#include <catch2/catch.hpp>

namespace uvtap {
namespace {

constexpr Capabilities bit(int capability) { return Capabilities{1} << capability; }
using Names = std::vector<std::string_view>;

TEST_CASE("the kernel's version is read from its release") {
  CHECK(parse_kernel_version("6.1.0-38-amd64") == KernelVersion{6, 1});
  CHECK(parse_kernel_version("5.15.167.4-microsoft-standard-WSL2") == KernelVersion{5, 15});
  CHECK(parse_kernel_version("6.18") == KernelVersion{6, 18});
  CHECK(KernelVersion{5, 4} < KernelVersion{5, 15});
  for (const char* release : {"", "6", "6.", ".1", "six.one", "99999999999.1"})
    CHECK_FALSE(parse_kernel_version(release));
}

TEST_CASE("the effective capabilities are read from /proc/PID/status") {
  CHECK(parse_capabilities("CapPrm:\tffff\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n") ==
        0x1ffffffffffU);
  CHECK(parse_capabilities("Name:\tx\nCapEff:\t0000000000000000\n") == 0U);
  for (const char* status : {"", "Name:\tCapEff:\t1\n", "\nCapEff:\t", "\nCapEff:\txyz\n",
                             "\nCapEff:\t10000000000000000\n"})
    CHECK_FALSE(parse_capabilities(status));
}

TEST_CASE("what is missing is named; CAP_SYS_ADMIN stands for the two newer ones") {
  CHECK(missing_capabilities(0) ==
        Names{"CAP_BPF", "CAP_PERFMON", "CAP_SYS_ADMIN", "CAP_SYS_PTRACE"});
  CHECK(missing_capabilities(bit(CAP_SYS_ADMIN) | bit(CAP_SYS_PTRACE)).empty());
  CHECK(missing_capabilities(bit(CAP_BPF) | bit(CAP_PERFMON)) ==
        Names{"CAP_SYS_ADMIN", "CAP_SYS_PTRACE"});
  CHECK(may_use_perf(bit(CAP_PERFMON)));
  CHECK(may_use_perf(bit(CAP_SYS_ADMIN)));
  CHECK_FALSE(may_use_perf(bit(CAP_BPF)));
}

TEST_CASE("a line says how it stands, and what helps only where something does") {
  CHECK(to_text({Finding::ok, "kernel", "6.1", ""}) == "ok  kernel                    6.1\n");
  CHECK(to_text({Finding::no, "BTF", "none", "another kernel"}) ==
        "no  BTF                       none\n"
        "                              what helps: another kernel\n");
  CHECK(to_text({Finding::skipped, "a\nb", "\x1b[2J", ""}) ==
        "--  a?b                       ?[2J\n");
}

}  // namespace
}  // namespace uvtap
