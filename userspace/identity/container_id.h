// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

namespace uvtap {

[[nodiscard]] constexpr bool is_hex(std::string_view text, size_t length) {
  return text.size() == length && std::ranges::all_of(text, [](char each) {
           return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'f');
         });
}

/// As containerd, CRI-O and Docker make them.
inline constexpr size_t container_id_length = 64;
[[nodiscard]] constexpr bool is_container_id(std::string_view text) {
  return is_hex(text, container_id_length);
}

}  // namespace uvtap
