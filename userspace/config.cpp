// SPDX-License-Identifier: Apache-2.0
#include "userspace/config.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "userspace/config_settings.h"
#include "userspace/util/printable.h"

namespace uvtap {

namespace {

struct CommandName {
  Command command;
  const char* name;
  const char* purpose;
};

constexpr std::array all_commands = {
    CommandName{Command::serve, "serve",
                "Observe every Node.js event loop of this machine and serve the metrics."},
    CommandName{Command::top, "top", "Show the loops of this machine in a live table."},
    CommandName{Command::check, "check",
                "Say whether this machine can be observed, by which front doors, and what would "
                "help."},
    CommandName{Command::version, "version", "Print the version."},
};
constexpr const char* command_names = "serve, top, check or version";
constexpr const char* program_description =
    "uvtap watches every Node.js event loop of this machine from outside and exposes Prometheus\n"
    "metrics. Nothing in the applications changes.";

// A setting of the chosen command, and what the command line says of it.
struct Argument {
  const Setting* setting = nullptr;
  std::string value;
  CLI::Option* option = nullptr;
};

// One command of the command line; keeps the texts that CLI11 writes the values to.
class CommandLine {
 public:
  CommandLine(CLI::App& parent, const CommandName& name)
      : command_(name.command), app_(parent.add_subcommand(name.name, name.purpose)) {
    app_->allow_extras();  // so that what is unknown can be named, see unknown_argument()
    arguments_.reserve(settings().size());
    for (const Setting& setting : settings()) {
      if (setting.belongs_to(command_)) add(setting);
    }
  }

  [[nodiscard]] bool chosen() const { return app_->parsed(); }
  [[nodiscard]] std::optional<Error> unknown_argument() const;
  [[nodiscard]] Result<Config> config(const Environment& environment) const;

 private:
  void add(const Setting& setting);

  Command command_;
  CLI::App* app_;
  std::vector<Argument> arguments_;  // reserved in full: CLI11 holds references to the values
};

void CommandLine::add(const Setting& setting) {
  Argument& argument = arguments_.emplace_back();
  argument.setting = &setting;
  if (setting.argument.empty()) {
    argument.option = app_->add_flag(setting.flag(), argument.value, setting.help());
  } else {
    argument.option = app_->add_option(setting.flag(), argument.value, setting.help());
    argument.option->type_name(std::string(setting.argument));
    argument.option->expected(0, 1);  // a missing value is refused by the setting itself
  }
  argument.option->take_last();
}

std::optional<Error> CommandLine::unknown_argument() const {
  const std::vector<std::string> unknown = app_->remaining();
  if (unknown.empty()) return std::nullopt;
  std::string accepted;
  for (const Argument& argument : arguments_) accepted += argument.setting->flag() + ", ";
  return Error{fmt::format("unknown argument '{}'; uvtap {} accepts {}--help",
                           printable(unknown.front(), 100), app_->get_name(), accepted)};
}

/// Before the settings, since a flag wins over what the cluster says. Outside a pod none of these
/// variables means what it means there.
Result<void> apply_cluster_variables(const Environment& environment, Config& config) {
  if (environment("KUBERNETES_SERVICE_HOST").value_or("").empty()) return {};
  for (const ClusterVariable& variable : cluster_variables()) {
    const std::string value = environment(std::string(variable.name)).value_or("");
    if (!value.empty() && !variable.apply(value, config))
      return fail("{}: '{}' is not accepted; give {}", variable.name, printable(value, 100),
                  variable.accepts);
  }
  return {};
}

/// Asked for alone, the API server must be known.
Result<void> check_kubernetes(const KubernetesSettings& kubernetes) {
  if (kubernetes.mode != KubernetesMode::api) return {};
  if (kubernetes.api_host.empty())
    return fail(
        "--kubernetes api: KUBERNETES_SERVICE_HOST is not set; Kubernetes sets it in a pod");
  if (kubernetes.node_name.empty())
    return fail("--kubernetes api: the node is not known; give --node-name or set NODE_NAME");
  return {};
}

Result<void> check_tls(const Config& config) {
  if (config.tls_certificate.empty() == config.tls_key.empty()) return {};
  return fail("--tls-certificate and --tls-key belong together; give both or neither");
}

Result<Config> CommandLine::config(const Environment& environment) const {
  Config config;
  config.command = command_;
  if (auto applied = apply_cluster_variables(environment, config); !applied)
    return std::unexpected(applied.error());
  for (const Argument& argument : arguments_) {
    const Setting& setting = *argument.setting;
    const bool given = argument.option->count() > 0;
    const std::string source = given ? setting.flag() : setting.variable();
    const std::string value = given ? argument.value : environment(source).value_or("");
    if (!given && value.empty()) continue;
    if (!setting.apply(value, config)) {
      return fail("{}: '{}' is not accepted; give {}", source, printable(value, 100),
                  setting.accepts);
    }
  }
  if (auto checked = check_kubernetes(config.kubernetes); !checked)
    return std::unexpected(checked.error());
  if (auto checked = check_tls(config); !checked) return std::unexpected(checked.error());
  return config;
}

std::variant<Config, HelpText, Error> chosen_config(const CLI::App& program,
                                                    std::span<const CommandLine> commands,
                                                    const Environment& environment) {
  const std::vector<std::string> unknown = program.remaining();
  if (!unknown.empty()) {
    return Error{fmt::format("unknown command '{}'; give {}, or --help",
                             printable(unknown.front(), 100), command_names)};
  }
  for (const CommandLine& command : commands) {
    if (!command.chosen()) continue;
    if (std::optional<Error> error = command.unknown_argument()) return *error;
    Result<Config> config = command.config(environment);
    if (!config) return config.error();
    return *std::move(config);
  }
  return Error{fmt::format("no command given; give {}, or --help", command_names)};
}

}  // namespace

uint32_t loops_per_container(const Config& config) {
  constexpr uint32_t at_least = 16;
  return config.max_loops_per_container.value_or(std::max(config.max_loops / 4, at_least));
}

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): read at start
  if (value == nullptr) return std::nullopt;
  return value;
}

std::variant<Config, HelpText, Error> parse_config(std::span<const std::string> arguments,
                                                   const Environment& environment) {
  CLI::App program{program_description, "uvtap"};
  program.allow_extras();
  program.require_subcommand(0, 1);
  std::vector<CommandLine> commands;
  commands.reserve(all_commands.size());
  for (const CommandName& name : all_commands) commands.emplace_back(program, name);

  // CLI11 reports by exceptions; they end here. It takes the arguments last one first.
  try {
    program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return HelpText{program.help()};
  } catch (const CLI::ParseError& error) {
    return Error{printable(error.what())};
  }
  return chosen_config(program, commands, environment);
}

}  // namespace uvtap
