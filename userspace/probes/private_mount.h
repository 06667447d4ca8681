// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>

#include "userspace/util/unique_fd.h"

namespace uvtap {

/// Which step failed, and its errno.
struct MountRefusal {
  const char* what = "";  ///< "opened", "created", "mounted"
  int number = 0;
};

/// The root of a file system such as tracefs, detached: nobody else sees it, and it goes with the
/// descriptor (fsopen, kernel 5.2). Takes CAP_SYS_ADMIN; ENODEV where the kernel does not have it.
[[nodiscard]] std::expected<UniqueFd, MountRefusal> mount_privately(const char* file_system);

}  // namespace uvtap
