// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace uvtap {

/// Kubernetes allows names of 253 bytes, and those must stay whole to be joined with other metrics.
inline constexpr size_t label_value_limit = 256;

/// Text that a container may have chosen, made fit for a label: printable(), and bounded. What is
/// too long loses its middle, since the end is what tells names apart.
[[nodiscard]] std::string label_value(std::string_view text);

}  // namespace uvtap
