// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/private_mount.h"

#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace uvtap {

std::expected<UniqueFd, MountRefusal> mount_privately(const char* file_system) {
  const auto refused = [](const char* what) { return std::unexpected(MountRefusal{what, errno}); };
  const UniqueFd context(static_cast<int>(syscall(SYS_fsopen, file_system, FSOPEN_CLOEXEC)));
  if (!context.valid()) return refused("opened");
  if (syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
    return refused("created");
  UniqueFd root(static_cast<int>(syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, 0)));
  if (!root.valid()) return refused("mounted");
  return root;
}

}  // namespace uvtap
