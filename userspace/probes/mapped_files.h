// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/types.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bpf/loop_contract.h"
#include "userspace/util/result.h"
#include "userspace/util/unique_fd.h"

namespace uvtap {

/// Asks the kernel, through the task_vma iterator, which files a process maps, by their inodes
/// below any overlay. May be used by several threads. A process that keeps the lock of its memory
/// holds up whoever asks, for as long as it likes.
class MappedFiles {
 public:
  /// The descriptors of the program list_mapped_files and the map mapping_queries; duplicated, so
  /// that they need not outlive it.
  static Result<std::shared_ptr<const MappedFiles>> create(int program_fd, int queries_fd);

  /// The files this process maps executable. None for a process that is gone.
  [[nodiscard]] Result<std::vector<mapped_file>> of(pid_t pid) const;
  /// The file that a path leads to now: the one that a uprobe at this path would be attached to.
  /// stat() does not tell. Only device and inode of the answer are meant.
  [[nodiscard]] Result<mapped_file> behind(const std::string& path) const;

 private:
  [[nodiscard]] Result<std::vector<mapped_file>> ask(const mapping_query& query) const;
  [[nodiscard]] UniqueFd link_iterator(pid_t pid) const;

  UniqueFd program_;
  UniqueFd queries_;
};

/// Whether the file system answers from this machine alone. Others ask a program (FUSE) or another
/// machine (NFS, SMB, Ceph, AFS), which may never answer.
[[nodiscard]] bool is_local_filesystem(uint64_t magic);

}  // namespace uvtap
