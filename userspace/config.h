// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "bpf/loop_contract.h"
#include "userspace/util/log.h"
#include "userspace/util/result.h"

namespace uvtap {

enum class Command { serve, top, check, version };
/// Whose figures are put together: in one row of `uvtap top`, in one series of /metrics.
enum class Grouping { loop, process, container };

/// Where the names of pods come from.
enum class KubernetesMode {
  automatic,  ///< the API server if there is one, else the names of log files, else container ids
  api,
  files,
  off,  ///< containers are not told apart from other processes
};

/// What is known of the Kubernetes that this machine may be a node of.
struct KubernetesSettings {
  KubernetesMode mode = KubernetesMode::automatic;
  std::string node_name;
  /// The API server as Kubernetes tells its pods; empty outside.
  std::string api_host;
  uint16_t api_port = 443;
  std::string credentials = "/var/run/secrets/kubernetes.io/serviceaccount";  ///< ca.crt, token
  std::string container_logs = "/var/log/containers";
};

/// Everything a person can set, checked. A flag that a command does not have keeps its default.
struct Config {
  Command command = Command::serve;

  // what is observed, and how
  uint64_t window_ns = 15'000'000'000;
  uint64_t delay_resolution_ns = 20'000'000;
  std::optional<front_door> forced_front_door;  ///< none: the best for each binary
  uint32_t max_loops = 512;
  /// What observing may cost one process, as a share of one CPU; none: whatever it costs.
  std::optional<double> overhead_budget_ratio = 0.02;
  std::optional<uint32_t> max_loops_per_container;  ///< none: see loops_per_container()
  std::string proc_root = "/proc";                  ///< absolute, without a slash at the end
  KubernetesSettings kubernetes;

  // serve
  std::string listen = "127.0.0.1:9464";  ///< an IPv4 or [IPv6] address or none; port 0: any
  bool per_process = false;
  std::string tls_certificate;    ///< a file; empty: no TLS
  std::string tls_key;            ///< a file, if tls_certificate is one
  std::string bearer_token_file;  ///< empty: /metrics is open

  // top
  Grouping top_row = Grouping::loop;
  bool once = false;
  bool json = false;

  LogLevel log_level = LogLevel::info;
  LogFormat log_format = LogFormat::text;
};

/// How many loops of one container (outside of any: of one process) can be observed at a time, so
/// that no container takes the places of all others.
[[nodiscard]] uint32_t loops_per_container(const Config& config);

/// The help that was asked for: to be printed, then exit 0.
struct HelpText {
  std::string text;
};

/// Looks up one environment variable.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
/// That of this process.
[[nodiscard]] std::optional<std::string> process_environment(const std::string& name);

/// Reads the arguments (without the program's name) and, for what they leave out, the environment:
/// --window is also UVTAP_WINDOW; an empty variable counts as unset. NODE_NAME,
/// KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are taken as Kubernetes gives them. Whatever
/// is not accepted is an Error whose one line names the flag or variable, the value, and what would
/// be accepted.
[[nodiscard]] std::variant<Config, HelpText, Error> parse_config(
    std::span<const std::string> arguments, const Environment& environment);

}  // namespace uvtap
