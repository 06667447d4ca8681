// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/workload_name.h"

#include <catch2/catch.hpp>
#include <ostream>

namespace uvtap {
// For Catch2's messages.
static std::ostream& operator<<(std::ostream& out, const Workload& workload) {
  return out << workload.kind << '/' << workload.name;
}
}  // namespace uvtap

using namespace uvtap;

TEST_CASE("a ReplicaSet with the pod's hash is its Deployment's") {
  CHECK(workload_behind("ReplicaSet", "web-6b7f9c5d8", "6b7f9c5d8") ==
        Workload{"Deployment", "web"});
  CHECK(workload_behind("ReplicaSet", "my-web-app-6b7f9c5d8", "6b7f9c5d8") ==
        Workload{"Deployment", "my-web-app"});
}

TEST_CASE("a ReplicaSet that a person made stays one") {
  for (const char* name : {"web", "web-6b7f9c5d8", "web-", "-6b7f9c5d8", "6b7f9c5d8", "-", ""})
    CHECK(workload_behind("ReplicaSet", name, "") == Workload{"ReplicaSet", name});
  CHECK(workload_behind("ReplicaSet", "web-blue", "6b7f9c5d8") ==
        Workload{"ReplicaSet", "web-blue"});
  CHECK(workload_behind("ReplicaSet", "-6b7f9c5d8", "6b7f9c5d8").kind == "ReplicaSet");
}

TEST_CASE("a Job that is named after a moment is a CronJob's") {
  // 2026-01-10 12:00 UTC in minutes, as Kubernetes 1.21 and later name it, and in seconds.
  CHECK(workload_behind("Job", "backup-29467440", "") == Workload{"CronJob", "backup"});
  CHECK(workload_behind("Job", "backup-1768046400", "") == Workload{"CronJob", "backup"});
  CHECK(workload_behind("Job", "db-1-backup-29467440", "") == Workload{"CronJob", "db-1-backup"});
}

TEST_CASE("a Job that a person named is not a CronJob's") {
  for (const char* name :
       {"import", "import-2024", "import-20240115", "import-2024011512", "import-20991231",
        "import-1", "import-029467440", "import-29467440x", "import-", "-29467440", "29467440",
        "import-99999999999", "import-99999999999999999999999", "import-+29467440",
        "backup-manual-x7k2p"})
    CHECK(workload_behind("Job", name, "") == Workload{"Job", name});
}

TEST_CASE("other controllers are what a person named") {
  for (const char* kind : {"StatefulSet", "DaemonSet", "Deployment", "Rollout", "Workflow"})
    CHECK(workload_behind(kind, "x-29467440", "29467440") == Workload{kind, "x-29467440"});
}

TEST_CASE("a mirror pod and a bare pod have no workload") {
  CHECK(workload_behind("Node", "ip-10-0-0-7.ec2.internal", "") == Workload{});
  CHECK(workload_behind("", "", "6b7f9c5d8") == Workload{});
}
