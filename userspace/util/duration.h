// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "userspace/util/result.h"

namespace uvtap {

/// Reads a whole number with its unit, as a person writes it: "15s", "500ms", "2m". The units are
/// ms, s and m; the result is in nanoseconds. Fails on anything else, overflow included.
[[nodiscard]] Result<uint64_t> parse_duration_ns(std::string_view text);

}  // namespace uvtap
