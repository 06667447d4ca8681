// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "userspace/discovery/proc_text.h"
#include "userspace/util/result.h"

namespace uvtap {

/// A file that a process maps executable.
struct MappedImage {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
  /// As in maps: in the process's own root, may end in " (deleted)", '\n' is written "\012".
  std::string path;
  uint64_t inode = 0;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  /// The same file's mapping at the lowest address, executable or not.
  uint64_t lowest_start = 0;
  uint64_t lowest_file_offset = 0;
};

/// What to add to an address of the file, as linked, to have its address in the process. The
/// arguments are those of the file's first PT_LOAD, page aligned.
[[nodiscard]] uint64_t load_bias(const MappedImage& image, uint64_t first_load_address,
                                 uint64_t first_load_file_offset);

/// Every read of /proc goes through here. Files are read in bounded pieces and without ever
/// blocking; anything that is not a regular file is refused. A process may end at any moment: then
/// any of these is an error, and that is normal.
class ProcFs {
 public:
  /// Where /proc is mounted; the machine's own may stand elsewhere in a container.
  explicit ProcFs(std::string root) : root_(std::move(root)) {}

  /// Every process there is; fails beyond 1,000,000.
  [[nodiscard]] Result<std::vector<pid_t>> list_pids() const;
  /// Every thread of a process; fails beyond 65,536.
  [[nodiscard]] Result<std::vector<pid_t>> threads(pid_t pid) const;

  [[nodiscard]] Result<ProcessStat> process_stat(pid_t pid) const;
  [[nodiscard]] Result<uint64_t> start_time_ticks(pid_t pid) const;
  [[nodiscard]] Result<std::string> comm(pid_t pid) const;
  /// The arguments, argv[0] first, from the first 64 KiB of the command line; none for a kernel
  /// thread.
  [[nodiscard]] Result<std::vector<std::string>> command_line(pid_t pid) const;
  /// The text of cgroup, its first 64 KiB.
  [[nodiscard]] Result<std::string> cgroup(pid_t pid) const;
  /// By address; the first 4,096. Fails where maps is larger than 16 MiB.
  [[nodiscard]] Result<std::vector<MappedImage>> mapped_images(pid_t pid) const;

  /// The system call that a thread is blocked in; nothing while it runs.
  [[nodiscard]] Result<std::optional<BlockedSyscall>> blocked_syscall(pid_t pid, pid_t tid) const;
  [[nodiscard]] Result<ThreadTimes> thread_times(pid_t pid, pid_t tid) const;

  /// Paths to open what the process sees, from outside its mount namespace.
  [[nodiscard]] std::string exe_path(pid_t pid) const;
  /// The very file of one mapping, deleted or replaced though it may be.
  [[nodiscard]] std::string map_files_path(pid_t pid, uint64_t start, uint64_t end) const;
  [[nodiscard]] std::string root_path(pid_t pid, std::string_view path) const;

 private:
  [[nodiscard]] std::string path_of(pid_t pid, std::string_view file) const;
  [[nodiscard]] std::string path_of(pid_t pid, pid_t tid, std::string_view file) const;

  std::string root_;
};

}  // namespace uvtap
