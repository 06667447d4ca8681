// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "userspace/config.h"
#include "userspace/util/result.h"

namespace uvtap {

// What uvtap can be asked to do. Each returns the exit code, or an error that ends the program.

/// The daemon: observes and serves /metrics until a signal comes.
Result<int> serve(const Config& config);
/// The table for a person on a terminal.
Result<int> top(const Config& config);
/// Whether this machine and its Node processes can be observed; 0 only if so.
Result<int> check(const Config& config);

}  // namespace uvtap
