// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "userspace/config.h"

namespace uvtap {

// From the text of a setting to its value. Each stores it and returns true, or returns false and
// changes nothing.

template <typename Number>
bool store_number(std::string_view text, Number lowest, Number highest, Number& target) {
  Number value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || value < lowest || value > highest) return false;
  target = value;
  return true;
}

/// From 1 on.
bool store_count(std::string_view text, uint32_t highest, std::optional<uint32_t>& target);
/// "15s", within the limits.
bool store_duration(std::string_view text, uint64_t lowest_ns, uint64_t highest_ns,
                    uint64_t& target_ns);
/// "true", "1", "false" or "0".
bool store_switch(std::string_view text, bool& target);
/// An IPv4 or [IPv6] address or none, and a port: "0.0.0.0:9464".
bool store_listen(std::string_view text, std::string& target);
/// An absolute path; slashes at its end are taken off.
bool store_root(std::string_view text, std::string& target);
bool store_budget(std::string_view text, std::optional<double>& target_ratio);
bool store_front_door(std::string_view text, std::optional<front_door>& target);
bool store_kubernetes_mode(std::string_view text, KubernetesMode& target);
/// The name of an object in Kubernetes, which may be a DNS name.
bool store_name(std::string_view text, std::string& target);
bool store_top_row(std::string_view text, Grouping& target);
bool store_log_level(std::string_view text, LogLevel& target);
bool store_log_format(std::string_view text, LogFormat& target);

}  // namespace uvtap
