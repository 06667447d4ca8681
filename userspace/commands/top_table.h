// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "userspace/commands/text_table.h"
#include "userspace/commands/top_rows.h"

namespace uvtap {

/// What is observed, in one line: "3 loops of 2 Node.js processes; figures over up to 15 s; …".
[[nodiscard]] std::string top_summary(const TopView& view);

/// The rows as a person reads them; what most people need stands left.
[[nodiscard]] TextTable top_table(const TopView& view);

/// "-" for none, "3.1 ms", "2.50 s", "31 s": three digits or so.
[[nodiscard]] std::string short_duration(double seconds);

}  // namespace uvtap
