// SPDX-License-Identifier: Apache-2.0
#include "userspace/discovery/proc_text.h"

#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <system_error>

#include "userspace/util/take_text.h"

namespace uvtap {

namespace {

constexpr size_t max_arguments = 1024;

// A number that fills the whole text.
template <std::integral Number>
bool parse_number(std::string_view text, int base, Number& number) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc{} && rest == end;
}

std::string_view without_newline(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

bool parse_prefixed_hex(std::string_view text, uint64_t& number) {
  return text.starts_with("0x") && parse_number(text.substr(2), 16, number);
}

}  // namespace

Result<ProcessStat> parse_process_stat(std::string_view text) {
  // pid (comm) state ppid …: comm may hold anything, a ')' too, and what follows may not.
  const size_t comm_end = text.rfind(')');
  if (comm_end == std::string_view::npos) return fail("no process name in stat");
  std::string_view fields = without_newline(text.substr(comm_end + 1));
  take_until(fields, ' ');
  const std::string_view state = take_until(fields, ' ');
  constexpr int fields_between = 18;  // ppid (4) to itrealvalue (21); starttime is field 22
  for (int i = 0; i < fields_between; ++i) take_until(fields, ' ');
  ProcessStat stat;
  if (state.size() != 1 || !parse_number(take_until(fields, ' '), 10, stat.start_time_ticks)) {
    return fail("no start time in stat");
  }
  stat.state = state.front();
  return stat;
}

std::optional<FileMapping> parse_maps_line(std::string_view line) {
  // start-end perms offset major:minor inode      path
  FileMapping mapping;
  const bool range = parse_number(take_until(line, '-'), 16, mapping.start) &&
                     parse_number(take_until(line, ' '), 16, mapping.end);
  const std::string_view permissions = take_until(line, ' ');
  const bool file = parse_number(take_until(line, ' '), 16, mapping.file_offset) &&
                    parse_number(take_until(line, ':'), 16, mapping.device_major) &&
                    parse_number(take_until(line, ' '), 16, mapping.device_minor) &&
                    parse_number(take_until(line, ' '), 10, mapping.inode);
  if (!range || !file || permissions.size() != 4) return std::nullopt;
  if (mapping.inode == 0 || mapping.start >= mapping.end) return std::nullopt;
  mapping.executable = permissions[2] == 'x';
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  mapping.path = line;
  return mapping;
}

Result<std::optional<BlockedSyscall>> parse_syscall(std::string_view text) {
  // "running", "-1 SP PC", or "NUMBER ARGUMENT×6 SP PC"
  text = without_newline(text);
  if (text == "running") return std::nullopt;
  BlockedSyscall call;
  if (!parse_number(take_until(text, ' '), 10, call.number)) return fail("no system call number");
  if (call.number >= 0) {
    for (uint64_t& argument : call.arguments) {
      if (!parse_prefixed_hex(take_until(text, ' '), argument)) return fail("no such argument");
    }
  }
  if (!parse_prefixed_hex(take_until(text, ' '), call.stack_pointer) ||
      !parse_prefixed_hex(take_until(text, ' '), call.instruction_pointer)) {
    return fail("no stack or instruction pointer");
  }
  return call;
}

std::optional<int> epoll_descriptor(const BlockedSyscall& call) {
  if (call.number != SYS_epoll_wait && call.number != SYS_epoll_pwait) return std::nullopt;
  return static_cast<int>(call.arguments[0]);
}

Result<ThreadTimes> parse_schedstat(std::string_view text) {
  ThreadTimes times;
  if (!parse_number(take_until(text, ' '), 10, times.cpu_ns) ||
      !parse_number(take_until(text, ' '), 10, times.runqueue_ns)) {
    return fail("schedstat does not hold two times");
  }
  return times;
}

std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> arguments;
  while (text.ends_with('\0')) text.remove_suffix(1);
  while (!text.empty() && arguments.size() < max_arguments) {
    arguments.emplace_back(take_until(text, '\0'));
  }
  return arguments;
}

std::optional<uint64_t> parse_decimal(std::string_view text) {
  uint64_t number = 0;
  if (!parse_number(text, 10, number)) return std::nullopt;
  return number;
}

}  // namespace uvtap
