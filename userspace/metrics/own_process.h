// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "userspace/util/result.h"

namespace uvtap {

/// What this process itself takes: the process_* set that exporters have.
struct OwnProcess {
  double cpu_seconds = 0;
  double start_time_seconds = 0;  ///< since the epoch
  uint64_t resident_bytes = 0;
  uint64_t virtual_bytes = 0;
  uint64_t open_fds = 0;
  uint64_t max_fds = 0;
};

/// Reads /proc/self and /proc/stat of the daemon's own /proc, whatever --proc-root says.
[[nodiscard]] Result<OwnProcess> read_own_process();

}  // namespace uvtap
