// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "userspace/util/result.h"
#include "userspace/util/unique_fd.h"

namespace uvtap {

// The kernel's uprobe_multi links (6.6), which need no more than CAP_BPF and CAP_PERFMON.
// libbpf 1.1 and the headers of Linux 6.1 do not know them, so the command is given to the kernel
// as it is.

/// expected_attach_type of a program that is to be attached so, and cannot be by perf events then.
inline constexpr uint32_t uprobe_multi_attach_type = 48;  // BPF_TRACE_UPROBE_MULTI

/// Whether this kernel has them and filters them by process. Before 6.10 (6.6.35 of the
/// stable tree) it filters by thread, which would miss Workers.
[[nodiscard]] bool has_uprobe_multi();

/// Attaches a loaded program at one offset of one file, in every process that maps it; for a pid
/// other than -1 in that process alone. Fails with errno set.
[[nodiscard]] UniqueFd create_uprobe_multi_link(int program_fd, const std::string& path,
                                                uint64_t file_offset, pid_t pid);

}  // namespace uvtap
