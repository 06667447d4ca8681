// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "userspace/identity/cgroup_path.h"
#include "userspace/identity/pod_identity.h"

namespace uvtap {

/// Where a container's identity comes from, the poorest first.
enum class IdentitySource { container_id, files, api };

/// Whom the processes of a container belong to.
struct ResolvedContainer {
  PodIdentity identity;  ///< `process` is empty
  IdentitySource source = IdentitySource::container_id;
  /// A better source may soon know it: not to be shown yet.
  bool held_back = false;
};

/// What the resolver asks.
struct IdentityLookups {
  using Lookup = std::function<std::optional<PodIdentity>(const std::string& container_id)>;
  Lookup api;
  Lookup files;
  /// The API server answers, or has not had the time to: worth waiting for.
  std::function<bool()> api_is_near;
};

/// Container ids reach the API server some time after the processes are there.
inline constexpr uint64_t identity_wait_ns = 10'000'000'000;

/// Finds the identity of containers, and remembers it while they live. A container that is known to
/// no source yet is held back for up to `wait_ns`, then goes by its id; it is renamed as soon as a
/// better source knows it.
class PodResolver {
 public:
  PodResolver(IdentityLookups lookups, uint64_t wait_ns)
      : lookups_(std::move(lookups)), wait_ns_(wait_ns) {}

  /// Call for each process in each tick, between begin_tick() and end_tick().
  [[nodiscard]] ResolvedContainer resolve(const std::string& container_id);
  void begin_tick(uint64_t now_ns) { now_ns_ = now_ns; }
  /// Forgets the containers that were not asked for in this tick.
  void end_tick();

 private:
  struct Known {
    PodIdentity identity;
    IdentitySource source = IdentitySource::container_id;
    uint64_t first_asked_ns = 0;
    uint64_t last_asked_ns = 0;
  };
  void look_up(const std::string& container_id, Known& known) const;
  [[nodiscard]] bool has_waited(const Known& known) const;

  IdentityLookups lookups_;
  uint64_t wait_ns_;
  std::map<std::string, Known> known_;
  uint64_t now_ns_ = 0;
};

}  // namespace uvtap
