// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/types.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bpf/loop_contract.h"
#include "userspace/probes/bpf_programs.h"
#include "userspace/util/front_door_name.h"
#include "userspace/util/result.h"

namespace uvtap {

/// One instruction of one file, reached by any path that leads to the file's inode.
struct UprobeTarget {
  std::string path;
  uint64_t file_offset = 0;
};

/// Attaches a uprobe in every process that maps the file, now and later; for a pid other than -1 in
/// that process alone. Entry only: uvtap never uses return probes.
[[nodiscard]] Result<Link> attach_uprobe(bpf_program* program, const UprobeTarget& target,
                                         pid_t pid = -1);

/// Attaches to both epoll system calls of the whole machine.
[[nodiscard]] Result<std::vector<Link>> attach_epoll_tracepoints(const BpfPrograms& programs);

}  // namespace uvtap
