// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/check_report.h"

#include <catch2/catch.hpp>

namespace uvtap {
namespace {

TEST_CASE("the kernel's version is read from its release") {
  CHECK(parse_kernel_version("6.1.0-38-amd64") == KernelVersion{6, 1});
  CHECK(parse_kernel_version("5.15.167.4-microsoft-standard-WSL2") == KernelVersion{5, 15});
  CHECK(parse_kernel_version("6.18") == KernelVersion{6, 18});
  CHECK(KernelVersion{5, 4} < KernelVersion{5, 15});
  for (const char* release : {"", "6", "6.", ".1", "six.one", "99999999999.1"})
    CHECK_FALSE(parse_kernel_version(release));
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
