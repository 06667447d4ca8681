// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/pod_directory.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

using namespace uvtap;

namespace {

KnownPod pod(const std::string& uid, std::map<std::string, std::string> containers) {
  return {.uid = uid,
          .namespace_ = "shop",
          .name = "pod-" + uid,
          .workload_kind = "Deployment",
          .workload = "web",
          .containers = std::move(containers)};
}

std::string pod_of(const PodDirectory& directory, const std::string& container_id) {
  const auto found = directory.find(container_id);
  return found ? found->pod : "";
}

}  // namespace

TEST_CASE("a container's identity is that of its pod") {
  PodDirectory directory;
  CHECK(directory.put(pod("1", {{"id-a", "app"}, {"id-b", "proxy"}})));
  CHECK(directory.find("id-b") == PodIdentity{.namespace_ = "shop",
                                              .pod = "pod-1",
                                              .container = "proxy",
                                              .workload_kind = "Deployment",
                                              .workload = "web",
                                              .process = {}});
  CHECK_FALSE(directory.find("id-c"));
  CHECK_FALSE(directory.find(""));
}

TEST_CASE("a pod that changes has the containers it has now") {
  PodDirectory directory;
  directory.put(pod("1", {{"id-a", "app"}}));
  directory.put(pod("1", {{"id-b", "app"}}));
  CHECK_FALSE(directory.find("id-a"));
  CHECK(pod_of(directory, "id-b") == "pod-1");
  CHECK(directory.pods() == 1);
}

TEST_CASE("a pod that is removed takes its containers along, and no others") {
  PodDirectory directory;
  directory.put(pod("1", {{"id-a", "app"}, {"id-b", "app"}}));
  directory.put(pod("2", {{"id-b", "app"}}));  // claims a container of the first
  directory.remove("1");
  directory.remove("3");
  CHECK_FALSE(directory.find("id-a"));
  CHECK(pod_of(directory, "id-b") == "pod-2");
  directory.remove("2");
  CHECK_FALSE(directory.find("id-b"));
  CHECK(directory.pods() == 0);
}

TEST_CASE("a list replaces everything") {
  PodDirectory directory;
  directory.put(pod("1", {{"id-a", "app"}}));
  directory.replace({pod("2", {{"id-b", "app"}}), pod("3", {}), pod("2", {{"id-c", "app"}})});
  CHECK_FALSE(directory.find("id-a"));
  CHECK_FALSE(directory.find("id-b"));
  CHECK(pod_of(directory, "id-c") == "pod-2");
  CHECK(directory.pods() == 2);
}

TEST_CASE("beyond the limit only pods that are known are taken") {
  PodDirectory directory;
  for (size_t i = 0; i < PodDirectory::max_pods; ++i)
    CHECK(directory.put(pod(std::to_string(i), {})));
  CHECK_FALSE(directory.put(pod("new", {{"id-a", "app"}})));
  CHECK_FALSE(directory.find("id-a"));
  CHECK(directory.put(pod("7", {{"id-b", "app"}})));
  CHECK(pod_of(directory, "id-b") == "pod-7");
  directory.remove("8");
  CHECK(directory.put(pod("new", {{"id-a", "app"}})));
  CHECK(directory.pods() == PodDirectory::max_pods);
}
