// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "userspace/agent.h"
#include "userspace/commands/agent_loop.h"
#include "userspace/commands/commands.h"
#include "userspace/metrics/bearer_token.h"
#include "userspace/metrics/http_pages.h"
#include "userspace/metrics/http_server.h"
#include "userspace/metrics/metrics_page.h"
#include "userspace/probes/tracefs.h"
#include "userspace/util/capabilities.h"
#include "userspace/util/monotonic_clock.h"

namespace uvtap {
namespace {

/// A tick that is this late means that the observation hangs: restart it.
constexpr uint64_t tick_overdue_ns = 10'000'000'000;

/// What the ticking thread tells the serving threads.
struct Pulse {
  std::atomic<uint64_t> last_tick_ns = 0;
  std::atomic<bool> ready = false;

  [[nodiscard]] std::optional<std::string> unhealthy() const {
    const uint64_t age_ns = monotonic_now_ns() - last_tick_ns;
    if (age_ns < tick_overdue_ns) return std::nullopt;
    return fmt::format("the last tick was {} s ago", age_ns / 1'000'000'000);
  }
  [[nodiscard]] std::optional<std::string> unready() const {
    if (ready) return std::nullopt;
    return "the first scan is not finished, or a probe is not attached";
  }
};

/// A scrape takes some megabytes for a moment. They stay with the arena that had them, to be used
/// again: with one arena for all threads there is one such heap, not three.
void share_one_heap() { mallopt(M_ARENA_MAX, 1); }

bool works(const DoorTrial& trial) { return trial.seconds_per_hit.has_value(); }

void say_which_doors_work(const std::vector<DoorTrial>& trials) {
  // A door that another one stands in for is no reason to worry.
  const auto missing =
      std::ranges::any_of(trials, works) ? spdlog::level::info : spdlog::level::warn;
  for (const DoorTrial& trial : trials) {
    if (works(trial)) {
      spdlog::info("front door {}: works, {:.2f} µs a hit", to_string(trial.door),
                   *trial.seconds_per_hit * 1e6);
    } else {
      spdlog::log(missing, "front door {}: does not work here: {}", to_string(trial.door),
                  trial.seconds_per_hit.error().message);
    }
  }
  if (const auto place = tracefs_place(); place && *place == private_tracefs)
    spdlog::info("tracefs is not mounted: it is reached through a mount that nobody else sees");
}

void say_what_is_observed(const Agent& agent, const std::string& url) {
  const auto& processes = agent.processes();
  spdlog::info("{} Node.js processes observed, {} not supported; {}/metrics",
               processes.observed().size(), processes.unsupported().size(), url);
  if (processes.observed().empty()) spdlog::info("waiting for a Node.js process to start");
}

std::string url_of(const ListenAddress& address, bool by_tls) {
  return fmt::format("{}://{}", by_tls ? "https" : "http", to_string(address));
}

Result<HttpHandler> protect(HttpHandler pages, const Config& config, bool is_local) {
  if (config.bearer_token_file.empty()) return pages;
  auto token = BearerToken::read(config.bearer_token_file);
  if (!token) return std::unexpected(token.error());
  if (config.tls_certificate.empty() && !is_local)
    spdlog::warn("the bearer token comes over the network in the clear; give --tls-certificate");
  return guarded(std::move(pages), std::move(*token));
}

Result<std::optional<TlsFiles>> read_tls(const Config& config) {
  if (config.tls_certificate.empty()) return std::nullopt;
  auto files = TlsFiles::read(config.tls_certificate, config.tls_key);
  if (!files) return std::unexpected(files.error());
  return std::move(*files);
}

/// How the pages are to be served.
struct Protection {
  HttpHandler pages;
  std::optional<TlsFiles> tls;
};

Result<Protection> read_protection(const Config& config, HttpHandler pages, bool is_local) {
  // As in the server's threads, which are to read the files again and have none.
  const WithoutCapabilities bare(effective_capabilities());
  auto handler = protect(std::move(pages), config, is_local);
  if (!handler) return std::unexpected(handler.error());
  auto tls = read_tls(config);
  if (!tls) return std::unexpected(tls.error());
  return Protection{std::move(*handler), std::move(*tls)};
}

Result<std::unique_ptr<HttpServer>> start_server(const Config& config, const ListenAddress& address,
                                                 HttpHandler pages) {
  auto protection = read_protection(config, std::move(pages), is_loopback(address));
  if (!protection) return std::unexpected(protection.error());
  return HttpServer::start(address, std::move(protection->pages), std::move(protection->tls));
}

}  // namespace

Result<int> serve(const Config& config) {
  share_one_heap();
  auto loop = AgentLoop::create(AgentLoop::Ticks::also_for_new_loops);
  if (!loop) return std::unexpected(loop.error());
  auto address = parse_listen_address(config.listen);
  if (!address) return std::unexpected(address.error());

  MetricsPage page;
  Pulse pulse;
  pulse.last_tick_ns = monotonic_now_ns();
  auto server = start_server(
      config, *address,
      HttpPages(page, [&] { return pulse.unhealthy(); }, [&] { return pulse.unready(); }));
  if (!server) return std::unexpected(server.error());
  auto agent = Agent::start(config, config.per_process ? Grouping::process : Grouping::container);
  if (!agent) return std::unexpected(agent.error());
  address->port = (*server)->port();
  say_which_doors_work((*agent)->door_trials());

  const std::string url = url_of(*address, !config.tls_certificate.empty());
  bool said = false;
  auto done = loop->run(**agent, [&](std::vector<ContainerMetrics> containers) {
    page.publish({std::move(containers), (*agent)->self_metrics()});
    pulse.last_tick_ns = monotonic_now_ns();
    pulse.ready = (*agent)->ready();
    if (!std::exchange(said, true)) say_what_is_observed(**agent, url);
    return AgentLoop::After::go_on;
  });
  if (!done) return std::unexpected(done.error());
  spdlog::info("detaching and leaving");
  return 0;
}

}  // namespace uvtap
