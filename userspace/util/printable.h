// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace uvtap {

/// Text from a stranger (a command line, a path, a title) made fit for a label, a log line or a
/// terminal: valid UTF-8 without control characters and without the invisible ones that reorder or
/// hide text, at most `max_bytes` long and cut between characters. Each offending byte or character
/// becomes '?'.
[[nodiscard]] std::string printable(std::string_view text,
                                    size_t max_bytes = std::numeric_limits<size_t>::max());

}  // namespace uvtap
