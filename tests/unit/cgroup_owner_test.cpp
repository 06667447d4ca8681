// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/cgroup_owner.h"

#include <catch2/catch.hpp>

using namespace uvtap;

namespace {

const std::string id(64, 'a');

}  // namespace

TEST_CASE("processes of one container have one owner, wherever in it they are") {
  const std::string path = "/kubepods/poda4c123b1-612d-d272-d137-1c17149d4395/" + id;
  CHECK(owner_by_cgroup("0::" + path + "\n", 5) == "container " + id);
  CHECK(owner_by_cgroup("0::" + path + "/made/inside\n", 6) == "container " + id);
}

TEST_CASE("outside containers the cgroup is the owner") {
  CHECK(owner_by_cgroup("0::/system.slice/app.service\n", 5) == "cgroup /system.slice/app.service");
  const std::string hybrid = "2:cpu,cpuacct:/a\n1:name=systemd:/b\n0::/a\n";
  CHECK(owner_by_cgroup(hybrid, 5) == "cgroup /a /b");
}

TEST_CASE("in the machine's own cgroup, or in none that is known, each process is its own") {
  CHECK(owner_by_cgroup("2:cpu:/\n0::/\n", 5) == "process 5");
  CHECK(owner_by_cgroup("", 5) == "process 5");
}
