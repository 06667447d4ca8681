// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "bpf/loop_contract.h"

namespace uvtap {

/// What people and labels call the front doors; "none" is not one that can be asked for.
inline constexpr std::array<std::string_view, FRONT_DOOR_COUNT> front_door_names = {
    "none", "io_poll", "epoll", "tracepoint", "memory"};

[[nodiscard]] constexpr std::string_view to_string(front_door door) {
  return front_door_names[door < FRONT_DOOR_COUNT ? door : FRONT_DOOR_NONE];
}

[[nodiscard]] constexpr std::optional<front_door> parse_front_door(std::string_view name) {
  for (size_t door = FRONT_DOOR_NONE + 1; door < FRONT_DOOR_COUNT; ++door)
    if (front_door_names[door] == name) return static_cast<front_door>(door);
  return std::nullopt;
}

}  // namespace uvtap
