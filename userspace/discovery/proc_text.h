// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/util/result.h"

namespace uvtap {

// The formats of /proc, as text in and structures out. Processes have a say in these texts (their
// name, their paths), so nothing here trusts them.

/// From /proc/PID/stat.
struct ProcessStat {
  char state = '?';               ///< 'R', 'S', …; 'Z' is a zombie
  uint64_t start_time_ticks = 0;  ///< since boot
  /// Ended, though its parent has not taken note yet: no memory, no files.
  [[nodiscard]] bool ended() const { return state == 'Z' || state == 'X' || state == 'x'; }
};
[[nodiscard]] Result<ProcessStat> parse_process_stat(std::string_view text);

/// One line of /proc/PID/maps that maps a file.
struct FileMapping {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
  bool executable = false;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode = 0;
  std::string_view path;  ///< a part of the line; as the kernel writes it, see MappedImage
};
/// Nothing where the line maps no file or is not understood.
[[nodiscard]] std::optional<FileMapping> parse_maps_line(std::string_view line);

/// The system call that a thread is blocked in.
struct BlockedSyscall {
  int64_t number = -1;  ///< -1: blocked, but in no system call (a page fault)
  std::array<uint64_t, 6> arguments{};
  uint64_t stack_pointer = 0;
  uint64_t instruction_pointer = 0;
  auto operator<=>(const BlockedSyscall&) const = default;
};
/// /proc/PID/task/TID/syscall; nothing while the thread runs.
[[nodiscard]] Result<std::optional<BlockedSyscall>> parse_syscall(std::string_view text);
/// The epoll descriptor, where the call is epoll_wait or epoll_pwait.
[[nodiscard]] std::optional<int> epoll_descriptor(const BlockedSyscall& call);

/// The scheduler's account of a thread since its start.
struct ThreadTimes {
  uint64_t cpu_ns = 0;       ///< on a CPU
  uint64_t runqueue_ns = 0;  ///< runnable, waiting for a CPU
  auto operator<=>(const ThreadTimes&) const = default;
};
/// /proc/PID/task/TID/schedstat.
[[nodiscard]] Result<ThreadTimes> parse_schedstat(std::string_view text);

/// /proc/PID/cmdline: arguments that end in NUL; the first 1,024 of them, without empty ones at the
/// end (process.title leaves many).
[[nodiscard]] std::vector<std::string> split_arguments(std::string_view text);

/// A decimal number that fills the whole text, as directory names under /proc are.
[[nodiscard]] std::optional<uint64_t> parse_decimal(std::string_view text);

}  // namespace uvtap
