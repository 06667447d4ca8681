// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/own_process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

#include "userspace/metrics/units.h"

namespace uvtap {
namespace {

struct Memory {
  uint64_t virtual_bytes = 0;
  uint64_t resident_bytes = 0;
};

Result<Memory> read_memory() {
  uint64_t virtual_pages = 0;
  uint64_t resident_pages = 0;
  if (!(std::ifstream("/proc/self/statm") >> virtual_pages >> resident_pages)) {
    return fail("cannot read /proc/self/statm");
  }
  const auto page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return Memory{.virtual_bytes = virtual_pages * page_bytes,
                .resident_bytes = resident_pages * page_bytes};
}

/// Field 22 of /proc/self/stat, in clock ticks since boot. Field 2, the name, may hold anything, so
/// the count starts behind its closing parenthesis.
Result<double> read_start_ticks() {
  std::ifstream file("/proc/self/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return fail("cannot read /proc/self/stat");
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  if (!fields) return fail("/proc/self/stat ends before its 22nd field");
  return std::strtod(field.c_str(), nullptr);
}

Result<double> read_boot_time_seconds() {
  std::ifstream file("/proc/stat");
  std::string key;
  double value = 0;
  while (file >> key) {
    if (key == "btime" && file >> value) return value;
    std::getline(file, key);
  }
  return fail("/proc/stat has no btime");
}

Result<uint64_t> count_open_fds() {
  std::error_code error;
  const std::filesystem::directory_iterator entries("/proc/self/fd", error);
  if (error) return fail("cannot list /proc/self/fd: {}", error.message());
  // The descriptor of this very listing is not counted.
  return static_cast<uint64_t>(std::distance(begin(entries), end(entries))) - 1;
}

Result<double> read_cpu_seconds() {
  timespec used{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) {
    return fail_errno(errno, "cannot read the CPU time used");
  }
  return static_cast<double>(used.tv_sec) + seconds(static_cast<double>(used.tv_nsec));
}

}  // namespace

Result<OwnProcess> read_own_process() {
  const auto memory = read_memory();
  if (!memory) return std::unexpected(memory.error());
  const auto start_ticks = read_start_ticks();
  if (!start_ticks) return std::unexpected(start_ticks.error());
  const auto boot_seconds = read_boot_time_seconds();
  if (!boot_seconds) return std::unexpected(boot_seconds.error());
  const auto open_fds = count_open_fds();
  if (!open_fds) return std::unexpected(open_fds.error());
  const auto cpu_seconds = read_cpu_seconds();
  if (!cpu_seconds) return std::unexpected(cpu_seconds.error());
  rlimit fd_limit{};
  if (::getrlimit(RLIMIT_NOFILE, &fd_limit) != 0)
    return fail_errno(errno, "cannot read RLIMIT_NOFILE");

  const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return OwnProcess{.cpu_seconds = *cpu_seconds,
                    .start_time_seconds = *boot_seconds + (*start_ticks / ticks_per_second),
                    .resident_bytes = memory->resident_bytes,
                    .virtual_bytes = memory->virtual_bytes,
                    .open_fds = *open_fds,
                    .max_fds = fd_limit.rlim_cur};
}

}  // namespace uvtap
