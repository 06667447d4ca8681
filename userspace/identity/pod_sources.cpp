// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/pod_sources.h"

#include <spdlog/spdlog.h>

#include "userspace/util/monotonic_clock.h"

namespace uvtap {
namespace {

constexpr std::chrono::seconds longest_first_answer{5};

bool wants_api(const KubernetesSettings& settings) {
  if (settings.mode == KubernetesMode::api) return true;
  if (settings.mode != KubernetesMode::automatic || settings.api_host.empty()) return false;
  if (settings.node_name.empty())
    spdlog::warn(
        "the API server is not asked for the names of pods: NODE_NAME is not set, and no "
        "--node-name given");
  return !settings.node_name.empty();
}

bool wants_files(const KubernetesSettings& settings) {
  return settings.mode == KubernetesMode::automatic || settings.mode == KubernetesMode::files;
}

}  // namespace

Result<std::unique_ptr<PodSources>> PodSources::start(const KubernetesSettings& settings) {
  std::unique_ptr<PodSources> sources(new PodSources(settings.mode == KubernetesMode::off));
  if (wants_files(settings)) {
    ContainerLogs logs(settings.container_logs);
    if (logs.available()) sources->logs_ = std::move(logs);
  }
  if (settings.mode == KubernetesMode::files && !sources->logs_)
    return fail("--kubernetes files: {} cannot be listed; mount it, or give --container-logs",
                settings.container_logs);
  if (!wants_api(settings)) return sources;
  auto watch = KubeWatch::start({.host = settings.api_host,
                                 .port = settings.api_port,
                                 .credentials_dir = settings.credentials,
                                 .node_name = settings.node_name},
                                sources->directory_);
  if (!watch) return std::unexpected(watch.error());
  sources->watch_ = std::move(*watch);
  return sources;
}

IdentityLookups PodSources::lookups() {
  return {.api = [this](const std::string& id) { return directory_.find(id); },
          .files = [this](const std::string& id) -> std::optional<PodIdentity> {
            if (!logs_) return std::nullopt;
            return logs_->find(id, monotonic_now_ns());
          },
          .api_is_near = [this] { return api_is_near(); }};
}

std::optional<KubeWatch::State> PodSources::first_api_state() const {
  if (!watch_) return std::nullopt;
  return watch_->first_state(longest_first_answer);
}

bool PodSources::api_is_near() const { return watch_ && !watch_->state().failing; }

std::string_view PodSources::current() const {
  if (is_off_) return "off";
  if (watch_) {
    const auto state = watch_->state();
    if (state.synced && !state.failing) return "api";
  }
  return logs_ ? "files" : "none";
}

void PodSources::say_changes() {
  const std::string_view now = current();
  if (now == said_) return;
  said_ = now;
  if (now == "api") spdlog::info("the names of pods come from the API server");
  if (now == "files") spdlog::info("the names of pods come from the names of their log files");
  // Of a machine that has nothing to do with Kubernetes there is nothing to say.
  if (now == "none" && watch_)
    spdlog::info("the names of pods are not known: containers go by their id");
}

std::map<std::string, uint64_t> PodSources::errors() const {
  return watch_ ? watch_->errors() : std::map<std::string, uint64_t>{};
}

}  // namespace uvtap
