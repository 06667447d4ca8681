// SPDX-License-Identifier: Apache-2.0
#include "userspace/config_values.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "userspace/util/duration.h"
#include "userspace/util/front_door_name.h"

namespace uvtap {
namespace {

template <typename Value>
bool store_choice(std::string_view text,
                  std::initializer_list<std::pair<std::string_view, Value>> choices,
                  Value& target) {
  for (const auto& [name, value] : choices) {
    if (text != name) continue;
    target = value;
    return true;
  }
  return false;
}

/// None stands for every address of the machine, IPv6 and IPv4.
bool is_host(const std::string& host) {
  if (host.empty()) return true;
  in6_addr address{};
  if (host.starts_with('[') && host.ends_with(']')) {
    return inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address) == 1;
  }
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

}  // namespace

bool store_count(std::string_view text, uint32_t highest, std::optional<uint32_t>& target) {
  uint32_t value = 0;
  if (!store_number<uint32_t>(text, 1, highest, value)) return false;
  target = value;
  return true;
}

bool store_duration(std::string_view text, uint64_t lowest_ns, uint64_t highest_ns,
                    uint64_t& target_ns) {
  const Result<uint64_t> value_ns = parse_duration_ns(text);
  if (!value_ns || *value_ns < lowest_ns || *value_ns > highest_ns) return false;
  target_ns = *value_ns;
  return true;
}

bool store_switch(std::string_view text, bool& target) {
  return store_choice<bool>(text, {{"true", true}, {"1", true}, {"false", false}, {"0", false}},
                            target);
}

bool store_listen(std::string_view text, std::string& target) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.find('\0') != std::string_view::npos) return false;
  uint16_t port = 0;
  if (!is_host(std::string(text.substr(0, colon)))) return false;
  if (!store_number<uint16_t>(text.substr(colon + 1), 0, 65535, port)) return false;
  target = text;
  return true;
}

bool store_root(std::string_view text, std::string& target) {
  if (!text.starts_with('/') || text.find('\0') != std::string_view::npos) return false;
  while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  target = text;
  return true;
}

bool store_budget(std::string_view text, std::optional<double>& target_ratio) {
  if (text == "off") {
    target_ratio.reset();
    return true;
  }
  if (!text.ends_with('%')) return false;
  text.remove_suffix(1);
  double percent = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), percent, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if (!(percent >= 0.1 && percent <= 100)) return false;
  target_ratio = percent / 100;
  return true;
}

bool store_front_door(std::string_view text, std::optional<front_door>& target) {
  const std::optional<front_door> door = parse_front_door(text);
  if (!door && text != "auto") return false;
  target = door;
  return true;
}

bool store_kubernetes_mode(std::string_view text, KubernetesMode& target) {
  return store_choice<KubernetesMode>(text,
                                      {{"auto", KubernetesMode::automatic},
                                       {"api", KubernetesMode::api},
                                       {"files", KubernetesMode::files},
                                       {"off", KubernetesMode::off}},
                                      target);
}

bool store_name(std::string_view text, std::string& target) {
  constexpr size_t longest = 253;
  const bool good = !text.empty() && text.size() <= longest &&
                    std::ranges::all_of(text, [](unsigned char letter) {
                      return std::islower(letter) != 0 || std::isdigit(letter) != 0 ||
                             letter == '-' || letter == '.';
                    });
  if (good) target = text;
  return good;
}

bool store_top_row(std::string_view text, Grouping& target) {
  return store_choice<Grouping>(text,
                                {{"loop", Grouping::loop},
                                 {"process", Grouping::process},
                                 {"container", Grouping::container}},
                                target);
}

bool store_log_level(std::string_view text, LogLevel& target) {
  return store_choice<LogLevel>(text,
                                {{"trace", LogLevel::trace},
                                 {"debug", LogLevel::debug},
                                 {"info", LogLevel::info},
                                 {"warn", LogLevel::warn},
                                 {"error", LogLevel::error}},
                                target);
}

bool store_log_format(std::string_view text, LogFormat& target) {
  return store_choice<LogFormat>(text, {{"text", LogFormat::text}, {"json", LogFormat::json}},
                                 target);
}

}  // namespace uvtap
