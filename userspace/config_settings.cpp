// SPDX-License-Identifier: Apache-2.0
#include "userspace/config_settings.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "userspace/config_values.h"

namespace uvtap {

namespace {

constexpr uint64_t millisecond_ns = 1'000'000;
constexpr uint64_t second_ns = 1'000 * millisecond_ns;
constexpr uint64_t minute_ns = 60 * second_ns;

constexpr std::array serve_only = {Command::serve};
constexpr std::array top_only = {Command::top};
constexpr std::array running = {Command::serve, Command::top};
constexpr std::array observing = {Command::serve, Command::top, Command::check};

// No setting may be called port or service-…: Kubernetes puts UVTAP_PORT and UVTAP_SERVICE_… into
// every container beside a Service named uvtap.
constexpr std::array all_settings = {
    Setting{
        "listen", "ADDRESS", "Where /metrics is served.",
        "an IPv4 or [IPv6] address and a port, such as 0.0.0.0:9464, or :9464 for every address",
        "127.0.0.1:9464", serve_only,
        [](std::string_view text, Config& config) { return store_listen(text, config.listen); }},
    Setting{"window", "DURATION", "The span that gauges speak of, advanced every second.",
            "1s to 10m", "15s", running,
            [](std::string_view text, Config& config) {
              return store_duration(text, second_ns, 10 * minute_ns, config.window_ns);
            }},
    Setting{"delay-resolution", "DURATION",
            "The timer interval behind nodejs_eventloop_delay, as monitorEventLoopDelay has it.",
            "1ms to 1s", "20ms", running,
            [](std::string_view text, Config& config) {
              return store_duration(text, millisecond_ns, second_ns, config.delay_resolution_ns);
            }},
    Setting{"front-door", "DOOR",
            "How turns of a loop are observed; auto takes the best that works.",
            "auto, io_poll, epoll, tracepoint or memory", "auto", observing,
            [](std::string_view text, Config& config) {
              return store_front_door(text, config.forced_front_door);
            }},
    Setting{"per-process", "", "One series per process, in Kubernetes too.", "true, false, 1 or 0",
            "false", serve_only,
            [](std::string_view text, Config& config) {
              return store_switch(text, config.per_process);
            }},
    Setting{"max-loops", "COUNT", "How many loops can be observed at a time.", "16 to 65536", "512",
            running,
            [](std::string_view text, Config& config) {
              return store_number<uint32_t>(text, 16, 65536, config.max_loops);
            }},
    Setting{"overhead-budget", "PERCENT",
            "What observing may cost one process, of one CPU. A process above it is watched by "
            "reading its memory, without a probe, until it is calm again.",
            "0.1% to 100%, or off", "2%", running,
            [](std::string_view text, Config& config) {
              return store_budget(text, config.overhead_budget_ratio);
            }},
    Setting{"max-loops-per-container", "COUNT",
            "How many of these one container can have; outside of containers, one process.",
            "1 to 65536", "a quarter of --max-loops, at least 16", running,
            [](std::string_view text, Config& config) {
              return store_count(text, 65536, config.max_loops_per_container);
            }},
    Setting{
        "proc-root", "DIRECTORY", "Where the machine's /proc is mounted.", "an absolute path",
        "/proc", observing,
        [](std::string_view text, Config& config) { return store_root(text, config.proc_root); }},
    Setting{"kubernetes", "SOURCE",
            "Where the names of pods come from; auto takes the API server, else the names of log "
            "files, else container ids.",
            "auto, api, files or off", "auto", observing,
            [](std::string_view text, Config& config) {
              return store_kubernetes_mode(text, config.kubernetes.mode);
            }},
    Setting{"node-name", "NAME", "This node's name in Kubernetes.",
            "lower case letters, digits, '-' and '.'", "$NODE_NAME", observing,
            [](std::string_view text, Config& config) {
              return store_name(text, config.kubernetes.node_name);
            }},
    Setting{"kubernetes-credentials", "DIRECTORY",
            "Where ca.crt and token for the API server are mounted.", "an absolute path",
            "/var/run/secrets/kubernetes.io/serviceaccount", observing,
            [](std::string_view text, Config& config) {
              return store_root(text, config.kubernetes.credentials);
            }},
    Setting{"container-logs", "DIRECTORY",
            "Where the kubelet keeps the containers' log files; only their names are read.",
            "an absolute path", "/var/log/containers", observing,
            [](std::string_view text, Config& config) {
              return store_root(text, config.kubernetes.container_logs);
            }},
    Setting{"tls-certificate", "FILE", "Serves by TLS, with this certificate and its chain (PEM).",
            "an absolute path", "none", serve_only,
            [](std::string_view text, Config& config) {
              return store_root(text, config.tls_certificate);
            }},
    Setting{"tls-key", "FILE", "The private key of --tls-certificate (PEM).", "an absolute path",
            "none", serve_only,
            [](std::string_view text, Config& config) { return store_root(text, config.tls_key); }},
    Setting{"bearer-token-file", "FILE",
            "Shows /metrics only to those who send the token in this file.", "an absolute path",
            "none", serve_only,
            [](std::string_view text, Config& config) {
              return store_root(text, config.bearer_token_file);
            }},
    Setting{
        "by", "ROW", "What one row stands for.", "loop, process or container", "loop", top_only,
        [](std::string_view text, Config& config) { return store_top_row(text, config.top_row); }},
    Setting{"once", "", "Print one table and exit.", "true, false, 1 or 0", "false", top_only,
            [](std::string_view text, Config& config) { return store_switch(text, config.once); }},
    Setting{"json", "", "Print JSON for scripts, one object per line.", "true, false, 1 or 0",
            "false", top_only,
            [](std::string_view text, Config& config) { return store_switch(text, config.json); }},
    Setting{"log-level", "LEVEL", "The least important lines that are logged.",
            "trace, debug, info, warn or error", "info", observing,
            [](std::string_view text, Config& config) {
              return store_log_level(text, config.log_level);
            }},
    Setting{"log-format", "FORMAT", "How log lines look on standard error.", "text or json", "text",
            observing,
            [](std::string_view text, Config& config) {
              return store_log_format(text, config.log_format);
            }},
};

constexpr std::array all_cluster_variables = {
    ClusterVariable{"NODE_NAME", "a node's name",
                    [](std::string_view text, Config& config) {
                      return store_name(text, config.kubernetes.node_name);
                    }},
    ClusterVariable{"KUBERNETES_SERVICE_HOST", "an IPv4 or IPv6 address, or a host's name",
                    [](std::string_view text, Config& config) {
                      const std::string host(text);
                      in6_addr address{};
                      if (inet_pton(AF_INET6, host.c_str(), &address) != 1)
                        return store_name(text, config.kubernetes.api_host);
                      config.kubernetes.api_host = host;
                      return true;
                    }},
    ClusterVariable{"KUBERNETES_SERVICE_PORT", "a port",
                    [](std::string_view text, Config& config) {
                      return store_number<uint16_t>(text, 1, 65535, config.kubernetes.api_port);
                    }},
};

}  // namespace

std::string Setting::flag() const { return fmt::format("--{}", name); }

std::string Setting::variable() const {
  std::string result = "UVTAP_";
  for (const char letter : name) {
    result += letter == '-' ? '_' : static_cast<char>(std::toupper(letter));
  }
  return result;
}

std::string Setting::help() const {
  return fmt::format("{}\nAccepts {}.\nDefault {}; variable {}.", purpose, accepts, default_text,
                     variable());
}

bool Setting::belongs_to(Command command) const {
  return std::ranges::find(commands, command) != commands.end();
}

std::span<const Setting> settings() { return all_settings; }

std::span<const ClusterVariable> cluster_variables() { return all_cluster_variables; }

}  // namespace uvtap
