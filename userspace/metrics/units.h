// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace uvtap {

/// Nanoseconds inside, seconds outside.
[[nodiscard]] constexpr double seconds(double ns) { return ns / 1e9; }
[[nodiscard]] constexpr double seconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace uvtap
