// SPDX-License-Identifier: Apache-2.0
// Runs a KubeWatch for a test, which asks for what it knows: a line in, a line of JSON out.
//
//   find ID...   for each container its identity, or null
//   state        the watch's state, its errors, and how many pods there are
//
// At the end of its input it stops the watch and says how long that took.

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "userspace/identity/kube_watch.h"
#include "userspace/util/log.h"

namespace {

using nlohmann::json;
using std::chrono::milliseconds;

/// What makes tests quick, and is enough for a machine that is busy.
constexpr uvtap::KubernetesPatience short_patience{.connect = milliseconds{5000},
                                                   .answer = milliseconds{3000},
                                                   .silence = milliseconds{2000},
                                                   .list = milliseconds{60'000},
                                                   .watch = std::chrono::seconds{60},
                                                   .settle = milliseconds{30},
                                                   .first_retry = milliseconds{40},
                                                   .last_retry = milliseconds{400}};

json identity(const uvtap::PodDirectory& directory, const std::string& container_id) {
  const auto found = directory.find(container_id);
  if (!found) return nullptr;
  return json::array({found->namespace_, found->pod, found->container, found->workload_kind,
                      found->workload, found->process});
}

json find(const uvtap::PodDirectory& directory, std::istringstream& ids) {
  json found = json::array();
  for (std::string id; ids >> id;) found.push_back(identity(directory, id));
  return found;
}

json state(const uvtap::KubeWatch& watch, const uvtap::PodDirectory& directory) {
  const auto state = watch.state();
  return {{"synced", state.synced},
          {"failing", state.failing},
          {"last_error", state.last_error},
          {"errors", watch.errors()},
          {"pods", directory.pods()}};
}

void answer_questions(const uvtap::KubeWatch& watch, const uvtap::PodDirectory& directory) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    const json answer = command == "find" ? find(directory, words) : state(watch, directory);
    std::cout << answer.dump() << std::endl;
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  uvtap::KubernetesAccess access;
  uvtap::KubernetesPatience patience = short_patience;
  long watch_seconds = patience.watch.count();
  CLI::App app;
  app.add_option("--host", access.host)->required();
  app.add_option("--port", access.port)->required();
  app.add_option("--credentials", access.credentials_dir)->required();
  app.add_option("--node", access.node_name)->required();
  app.add_option("--watch-seconds", watch_seconds);
  CLI11_PARSE(app, argument_count, arguments);
  patience.watch = std::chrono::seconds(watch_seconds);
  uvtap::set_up_logging(uvtap::LogLevel::info, uvtap::LogFormat::text);

  uvtap::PodDirectory directory;
  auto watch = uvtap::KubeWatch::start(access, directory, patience);
  if (!watch) {
    std::cerr << watch.error().message << '\n';
    return 1;
  }
  answer_questions(**watch, directory);
  const auto begin = std::chrono::steady_clock::now();
  watch->reset();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << json{{"stopped_in_seconds", took.count()}}.dump() << std::endl;
}
