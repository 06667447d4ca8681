// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/pod_resolver.h"

#include <catch2/catch.hpp>

namespace uvtap {
namespace {

const std::string id(64, 'a');
constexpr uint64_t second_ns = 1'000'000'000;

PodIdentity pod(const std::string& name, const std::string& workload = "") {
  PodIdentity identity;
  identity.namespace_ = "shop";
  identity.pod = name;
  identity.container = "app";
  identity.workload = workload;
  return identity;
}

PodIdentity by_id() {
  PodIdentity identity;
  identity.container = id;
  return identity;
}

/// A resolver, and what its sources know.
struct Sources {
  std::map<std::string, PodIdentity> api;
  std::map<std::string, PodIdentity> files;
  bool api_is_near = true;
  PodResolver resolver;

  explicit Sources(uint64_t wait_ns = identity_wait_ns)
      : resolver({.api = [this](const std::string& each) { return find(api, each); },
                  .files = [this](const std::string& each) { return find(files, each); },
                  .api_is_near = [this] { return api_is_near; }},
                 wait_ns) {}
  static std::optional<PodIdentity> find(const std::map<std::string, PodIdentity>& known,
                                         const std::string& container) {
    const auto found = known.find(container);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  }
  ResolvedContainer at(uint64_t now_ns) {
    resolver.begin_tick(now_ns);
    auto resolved = resolver.resolve(id);
    resolver.end_tick();
    return resolved;
  }
};

TEST_CASE("the API server's word is the last") {
  Sources sources;
  sources.api[id] = pod("web-1", "web");
  sources.files[id] = pod("web-1");
  CHECK(sources.at(second_ns).identity == pod("web-1", "web"));
  CHECK_FALSE(sources.at(second_ns).held_back);
  sources.api.clear();  // the pod is deleted, its process not yet
  CHECK(sources.at(2 * second_ns).identity == pod("web-1", "web"));
}

TEST_CASE("an unknown container is held back for ten seconds, then goes by its id") {
  Sources sources;
  CHECK(sources.at(second_ns).held_back);
  CHECK(sources.at(11 * second_ns - 1).held_back);
  const auto shown = sources.at(11 * second_ns);
  CHECK_FALSE(shown.held_back);
  CHECK(shown.identity == by_id());
  CHECK(shown.source == IdentitySource::container_id);
}

TEST_CASE("it is shown as soon as it is known, and renamed if it was shown by its id") {
  Sources sources;
  CHECK(sources.at(second_ns).held_back);
  const auto when = GENERATE(2 * second_ns, 60 * second_ns);
  (void)sources.at(when);
  sources.api[id] = pod("web-1", "web");
  const auto known = sources.at(when + second_ns);
  CHECK_FALSE(known.held_back);
  CHECK(known.identity == pod("web-1", "web"));
}

TEST_CASE("log files wait for an API server that answers, and stand in for one that does not") {
  Sources sources;
  sources.files[id] = pod("web-1");
  CHECK(sources.at(second_ns).held_back);
  SECTION("it does not know the container in time") {
    CHECK(sources.at(11 * second_ns).identity == pod("web-1"));
  }
  SECTION("it fails") {
    sources.api_is_near = false;
    CHECK(sources.at(2 * second_ns).identity == pod("web-1"));
    CHECK(sources.at(2 * second_ns).source == IdentitySource::files);
  }
  sources.api[id] = pod("web-1", "web");  // in the end it comes back
  CHECK(sources.at(20 * second_ns).identity == pod("web-1", "web"));
}

TEST_CASE("where no source is there, nothing is waited for") {
  Sources sources(0);
  CHECK_FALSE(sources.at(second_ns).held_back);
  CHECK(sources.at(second_ns).identity == by_id());
}

TEST_CASE("a container that is gone is forgotten") {
  Sources sources;
  sources.api[id] = pod("web-1");
  CHECK(sources.at(second_ns).identity == pod("web-1"));
  sources.resolver.begin_tick(2 * second_ns);
  sources.resolver.end_tick();
  sources.api.clear();
  CHECK(sources.at(3 * second_ns).held_back);
}

}  // namespace
}  // namespace uvtap
