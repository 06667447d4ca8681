// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "userspace/commands/top_rows.h"

namespace uvtap {

/// The view as one line of JSON. Field names carry their units and stay as they are; null where
/// there is no value yet.
[[nodiscard]] std::string top_json(const TopView& view);

}  // namespace uvtap
