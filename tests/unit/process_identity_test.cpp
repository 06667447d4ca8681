// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/process_identity.h"

#include <catch2/catch.hpp>

namespace uvtap {
namespace {

TEST_CASE("outside Kubernetes a process belongs to itself") {
  const PodIdentity identity = process_identity("server.js", 12);
  CHECK(identity.process == "server.js/12");
  CHECK(identity.pod.empty());
}

TEST_CASE("a main loop is its process, a Worker's loop is told apart") {
  const PodIdentity process = process_identity("server.js", 12);
  CHECK(loop_identity(process, 12, 12) == process);
  CHECK(loop_identity(process, 12, 15).process == "server.js/12 worker/15");
}

}  // namespace
}  // namespace uvtap
