// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace uvtap {

/// A process's name as a person knows it, for the `process` label: the base name of the script
/// where the program is called node, else that of the program. Printable, at most 64 bytes; empty
/// where there are no arguments.
[[nodiscard]] std::string display_name(std::span<const std::string> arguments);

}  // namespace uvtap
