// SPDX-License-Identifier: Apache-2.0
// What a person or a manifest says: durations, addresses, flags. The input is the arguments, with
// NUL between them.
#include <fmt/core.h>

#include "tests/fuzz/fuzz.h"
#include "userspace/config.h"
#include "userspace/metrics/listen_address.h"
#include "userspace/util/duration.h"

using namespace uvtap;
using fuzz::require;

namespace {

void check_duration(std::string_view text) {
  const auto duration_ns = parse_duration_ns(text);
  if (!duration_ns) return;
  require(*duration_ns % 1'000'000 == 0, "whole milliseconds");
  const auto again = parse_duration_ns(fmt::format("{}ms", *duration_ns / 1'000'000));
  require(again && *again == *duration_ns, "the same in another unit");
}

void check_listen_address(std::string_view text) {
  const auto address = parse_listen_address(text);
  if (!address) return;
  const auto again = parse_listen_address(to_string(*address));
  require(again && again->host == address->host && again->port == address->port,
          "an address, written again, reads the same");
}

void check_config(const Config& config) {
  require(config.window_ns >= 1'000'000'000 && config.window_ns <= 600'000'000'000, "window");
  require(config.delay_resolution_ns >= 1'000'000 && config.delay_resolution_ns <= 1'000'000'000,
          "delay resolution");
  require(config.max_loops >= 16 && config.max_loops <= 65536, "loops");
  require(config.proc_root.starts_with('/') && !config.proc_root.contains('\0'), "a path");
  require(parse_listen_address(config.listen).has_value(), "what was accepted can be listened on");
}

void check_arguments(std::string_view text) {
  std::vector<std::string> arguments;
  for (const std::string_view each : fuzz::split(text, '\0')) arguments.emplace_back(each);
  const auto nothing = [](const std::string&) { return std::optional<std::string>(); };
  const auto parsed = parse_config(arguments, nothing);
  if (const auto* config = std::get_if<Config>(&parsed)) check_config(*config);
  if (const auto* error = std::get_if<Error>(&parsed)) {
    require(!error->message.empty(), "an error says something");
    require(fuzz::has_no_control(error->message), "in one line");
  }
}

void check_environment(std::string_view text) {
  const auto same = [&](const std::string& name) {
    return name.starts_with("UVTAP_") ? std::optional(std::string(text)) : std::nullopt;
  };
  (void)parse_config({}, same);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::Input(data, size).text();
  check_duration(text);
  check_listen_address(text);
  check_arguments(text);
  check_environment(text);
  return 0;
}
