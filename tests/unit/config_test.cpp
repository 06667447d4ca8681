// SPDX-License-Identifier: Apache-2.0
#include "userspace/config.h"

#include <catch2/catch.hpp>
#include <map>
#include <sstream>
#include <vector>

using namespace uvtap;

namespace {

using Variables = std::map<std::string, std::string>;

std::variant<Config, HelpText, Error> parse(const std::string& line, const Variables& variables) {
  std::istringstream stream(line);
  const std::vector<std::string> arguments{std::istream_iterator<std::string>(stream), {}};
  return parse_config(arguments, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

Config accepted(const std::string& line, const Variables& variables = {}) {
  const auto result = parse(line, variables);
  if (const auto* error = std::get_if<Error>(&result)) FAIL(error->message);
  return std::get<Config>(result);
}

std::string refused(const std::string& line, const Variables& variables = {}) {
  const auto result = parse(line, variables);
  REQUIRE(std::holds_alternative<Error>(result));
  return std::get<Error>(result).message;
}

}  // namespace

TEST_CASE("serve has defaults for everything", "[config]") {
  const Config config = accepted("serve");
  CHECK(config.command == Command::serve);
  CHECK(config.listen == "127.0.0.1:9464");
  CHECK(config.window_ns == 15'000'000'000);
  CHECK(config.delay_resolution_ns == 20'000'000);
  CHECK_FALSE(config.forced_front_door);
  CHECK_FALSE(config.per_process);
  CHECK(config.proc_root == "/proc");
  CHECK(config.max_loops == 512);
  CHECK(loops_per_container(config) == 128);
  CHECK(config.tls_certificate.empty());
  CHECK(config.bearer_token_file.empty());
  CHECK(config.log_level == LogLevel::info);
  CHECK(config.log_format == LogFormat::text);
}

TEST_CASE("the overhead budget is a percentage, or off", "[config]") {
  CHECK(accepted("serve").overhead_budget_ratio == 0.02);
  CHECK(accepted("serve --overhead-budget 1.5%").overhead_budget_ratio == 0.015);
  CHECK(accepted("top", {{"UVTAP_OVERHEAD_BUDGET", "100%"}}).overhead_budget_ratio == 1.0);
  CHECK_FALSE(accepted("serve --overhead-budget off").overhead_budget_ratio);
}

TEST_CASE("every flag of serve is read", "[config]") {
  const Config config = accepted(
      "serve --listen [::1]:0 --window 2m --delay-resolution=1ms --front-door epoll --per-process "
      "--proc-root /host/proc/ --max-loops 65536 --log-level trace --log-format json");
  CHECK(config.listen == "[::1]:0");
  CHECK(config.window_ns == 120'000'000'000);
  CHECK(config.delay_resolution_ns == 1'000'000);
  CHECK(config.forced_front_door == FRONT_DOOR_EPOLL);
  CHECK(config.per_process);
  CHECK(config.proc_root == "/host/proc");
  CHECK(config.max_loops == 65536);
  CHECK(config.log_level == LogLevel::trace);
  CHECK(config.log_format == LogFormat::json);
}

TEST_CASE("a container's share of the loops", "[config]") {
  CHECK(loops_per_container(accepted("serve --max-loops 4096")) == 1024);
  CHECK(loops_per_container(accepted("serve --max-loops 20")) == 16);
  CHECK(loops_per_container(accepted("serve --max-loops-per-container 300")) == 300);
}

TEST_CASE("certificate and key are given together or not at all", "[config]") {
  const Config config = accepted("serve --tls-certificate /c.pem --tls-key /k.pem",
                                 {{"UVTAP_BEARER_TOKEN_FILE", "/token"}});
  CHECK(config.tls_certificate == "/c.pem");
  CHECK(config.tls_key == "/k.pem");
  CHECK(config.bearer_token_file == "/token");
  for (const char* half : {"serve --tls-certificate /c.pem", "serve --tls-key /k.pem"})
    CHECK(refused(half) == "--tls-certificate and --tls-key belong together; give both or neither");
}

TEST_CASE("the other commands have their own flags", "[config]") {
  const Config top = accepted("top --by container --once --json --window 1s --front-door memory");
  CHECK(top.command == Command::top);
  CHECK(top.top_row == Grouping::container);
  CHECK(top.once);
  CHECK(top.json);
  CHECK(top.forced_front_door == FRONT_DOOR_MEMORY);
  const Config check = accepted("check --proc-root /p --front-door auto");
  CHECK(check.command == Command::check);
  CHECK(check.proc_root == "/p");
  CHECK_FALSE(check.forced_front_door);
  CHECK(accepted("version").command == Command::version);
}

TEST_CASE("variables fill in what the command line leaves out", "[config]") {
  const Variables variables = {{"UVTAP_WINDOW", "30s"},
                               {"UVTAP_LISTEN", "0.0.0.0:80"},
                               {"UVTAP_PER_PROCESS", "1"},
                               {"UVTAP_DELAY_RESOLUTION", "10ms"},
                               {"UVTAP_LOG_LEVEL", ""},
                               {"UVTAP_SERVICE_PORT", "tcp://10.0.0.1:9464"},
                               {"UVTAP_BY", "nonsense, but top's"}};
  const Config config = accepted("serve --window 5s", variables);
  CHECK(config.window_ns == 5'000'000'000);
  CHECK(config.listen == "0.0.0.0:80");
  CHECK(accepted("serve --listen :9464").listen == ":9464");
  CHECK(config.per_process);
  CHECK(config.delay_resolution_ns == 10'000'000);
  CHECK(config.log_level == LogLevel::info);
  CHECK_FALSE(accepted("serve --per-process=false", variables).per_process);
}

TEST_CASE("the last of several counts", "[config]") {
  CHECK(accepted("serve --window 5s --window 7s").window_ns == 7'000'000'000);
}

TEST_CASE("a value that is not accepted is refused by name in one line", "[config]") {
  struct Row {
    std::string line;
    std::string message;
  };
  const Row row = GENERATE(values<Row>({
      {"serve --window 3h", "--window: '3h' is not accepted; give 1s to 10m"},
      {"serve --window 999ms", "--window: '999ms' is not accepted; give 1s to 10m"},
      {"serve --window 11m", "--window: '11m' is not accepted; give 1s to 10m"},
      {"serve --window", "--window: '' is not accepted; give 1s to 10m"},
      {"serve --window -5s", "--window: '-5s' is not accepted; give 1s to 10m"},
      {"serve --delay-resolution 2s", "--delay-resolution: '2s' is not accepted; give 1ms to 1s"},
      {"serve --overhead-budget 2",
       "--overhead-budget: '2' is not accepted; give 0.1% to 100%, or off"},
      {"serve --overhead-budget nan%",
       "--overhead-budget: 'nan%' is not accepted; give 0.1% to 100%, or off"},
      {"serve --overhead-budget 0%",
       "--overhead-budget: '0%' is not accepted; give 0.1% to 100%, or off"},
      {"serve --overhead-budget 101%",
       "--overhead-budget: '101%' is not accepted; give 0.1% to 100%, or off"},
      {"serve --max-loops 15", "--max-loops: '15' is not accepted; give 16 to 65536"},
      {"serve --max-loops 65537", "--max-loops: '65537' is not accepted; give 16 to 65536"},
      {"serve --max-loops 1e3", "--max-loops: '1e3' is not accepted; give 16 to 65536"},
      {"serve --max-loops-per-container 0",
       "--max-loops-per-container: '0' is not accepted; give 1 to 65536"},
      {"serve --tls-key key.pem", "--tls-key: 'key.pem' is not accepted; give an absolute path"},
      {"serve --per-process=maybe",
       "--per-process: 'maybe' is not accepted; give true, false, 1 or 0"},
      {"check --proc-root proc", "--proc-root: 'proc' is not accepted; give an absolute path"},
      {"check --front-door uprobe",
       "--front-door: 'uprobe' is not accepted; give auto, io_poll, epoll, tracepoint or memory"},
      {"top --by pod", "--by: 'pod' is not accepted; give loop, process or container"},
      {"top --log-level loud",
       "--log-level: 'loud' is not accepted; give trace, debug, info, warn or error"},
      {"serve --log-format xml", "--log-format: 'xml' is not accepted; give text or json"},
  }));
  CHECK(refused(row.line) == row.message);
}

TEST_CASE("an address is a literal and a port", "[config]") {
  const std::string address =
      GENERATE("9464", "localhost:9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
               "127.0.0.1:-1", "::1:9464", "[::1]", "[127.0.0.1]:1", "1.2.3:1", "127.0.0.1:http");
  CHECK(refused("serve --listen " + address).find("--listen: '" + address) == 0);
}

TEST_CASE("a bad variable is refused by its own name", "[config]") {
  CHECK(refused("serve", {{"UVTAP_WINDOW", "3h"}}) ==
        "UVTAP_WINDOW: '3h' is not accepted; give 1s to 10m");
  CHECK(refused("top", {{"UVTAP_ONCE", "yes\nno"}}) ==
        "UVTAP_ONCE: 'yes?no' is not accepted; give true, false, 1 or 0");
}

TEST_CASE("what is unknown is named, with what there is", "[config]") {
  CHECK(refused("check --window 5s") ==
        "unknown argument '--window'; uvtap check accepts --front-door, --proc-root, "
        "--kubernetes, --node-name, --kubernetes-credentials, --container-logs, --log-level, "
        "--log-format, --help");
  CHECK(refused("version -v") == "unknown argument '-v'; uvtap version accepts --help");
  CHECK(
      refused("serve --win 5s").find("unknown argument '--win'; uvtap serve accepts --listen, ") ==
      0);
  CHECK(refused("serve top").find("unknown argument 'top'") == 0);
  CHECK(refused("server") ==
        "unknown command 'server'; give serve, top, check or version, or --help");
  CHECK(refused("--window 5s serve").find("unknown command '--window'") == 0);
  CHECK(refused("") == "no command given; give serve, top, check or version, or --help");
}

TEST_CASE("help explains each flag with its variable", "[config]") {
  const auto help = [](const std::string& line) {
    return std::get<HelpText>(parse(line, {})).text;
  };
  for (const char* command : {"serve", "top", "check", "version"}) {
    CHECK(help("--help").find(command) != std::string::npos);
  }
  CHECK(help("serve --help").find("--listen ADDRESS") != std::string::npos);
  CHECK(help("serve --help").find("UVTAP_LOG_FORMAT") != std::string::npos);
  CHECK(help("top -h").find("--by ROW") != std::string::npos);
  CHECK(help("check --help").find("--listen") == std::string::npos);
}

namespace {

const Variables in_a_pod = {{"KUBERNETES_SERVICE_HOST", "10.100.0.1"},
                            {"KUBERNETES_SERVICE_PORT", "6443"},
                            {"NODE_NAME", "ip-10-0-1-7.eu-central-1.compute.internal"}};

}  // namespace

TEST_CASE("Kubernetes tells its pods where the API server is", "[config]") {
  const auto kubernetes = accepted("serve", in_a_pod).kubernetes;
  CHECK(kubernetes.mode == KubernetesMode::automatic);
  CHECK(kubernetes.api_host == "10.100.0.1");
  CHECK(kubernetes.api_port == 6443);
  CHECK(kubernetes.node_name == "ip-10-0-1-7.eu-central-1.compute.internal");
  CHECK(kubernetes.credentials == "/var/run/secrets/kubernetes.io/serviceaccount");
  CHECK(kubernetes.container_logs == "/var/log/containers");
  CHECK(accepted("serve", {{"KUBERNETES_SERVICE_HOST", "fd00::1"}}).kubernetes.api_host ==
        "fd00::1");
}

TEST_CASE("a flag wins over what Kubernetes tells", "[config]") {
  const auto kubernetes = accepted(
                              "serve --kubernetes api --node-name other --kubernetes-credentials "
                              "/c --container-logs /l/",
                              in_a_pod)
                              .kubernetes;
  CHECK(kubernetes.mode == KubernetesMode::api);
  CHECK(kubernetes.node_name == "other");
  CHECK(kubernetes.credentials == "/c");
  CHECK(kubernetes.container_logs == "/l");
}

TEST_CASE("outside a pod NODE_NAME may mean anything", "[config]") {
  CHECK(accepted("serve", {{"NODE_NAME", "My Laptop"}}).kubernetes.node_name.empty());
}

TEST_CASE("what Kubernetes cannot have told is refused", "[config]") {
  auto variables = in_a_pod;
  variables["KUBERNETES_SERVICE_PORT"] = "tcp://10.100.0.1:443";
  CHECK(refused("serve", variables) ==
        "KUBERNETES_SERVICE_PORT: 'tcp://10.100.0.1:443' is not accepted; give a port");
  variables = in_a_pod;
  variables["KUBERNETES_SERVICE_HOST"] = "evil/path?";
  CHECK(refused("serve", variables).starts_with("KUBERNETES_SERVICE_HOST: 'evil/path?'"));
}

TEST_CASE("the API server alone can only be asked when it and the node are known", "[config]") {
  CHECK(refused("serve --kubernetes api") ==
        "--kubernetes api: KUBERNETES_SERVICE_HOST is not set; Kubernetes sets it in a pod");
  CHECK(refused("serve --kubernetes api", {{"KUBERNETES_SERVICE_HOST", "10.100.0.1"}}) ==
        "--kubernetes api: the node is not known; give --node-name or set NODE_NAME");
}
