// SPDX-License-Identifier: Apache-2.0
// The files of /proc/PID: what the kernel writes there holds names and paths of the process's own
// choice.
#include <fmt/core.h>

#include "tests/fuzz/fuzz.h"
#include "userspace/discovery/proc_text.h"
#include "userspace/discovery/process_name.h"
#include "userspace/util/printable.h"

using namespace uvtap;
using fuzz::require;

namespace {

/// A process may call itself anything, and does not change what its stat says thereby.
void check_stat(std::string_view text) {
  (void)parse_process_stat(text);
  const auto stat = parse_process_stat(fmt::format(
      "42 ({}) Z 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 11 0 123456789 1000 200\n", text));
  require(stat && stat->state == 'Z' && stat->start_time_ticks == 123456789,
          "a process's name does not change its stat");
}

void check_maps(std::string_view text) {
  for (const std::string_view line : fuzz::split(text, '\n')) {
    if (const auto mapping = parse_maps_line(line)) {
      require(mapping->start < mapping->end && mapping->inode != 0, "a mapping of a file");
      require(line.ends_with(mapping->path), "a path is a part of its line");
    }
    const std::string named =
        fmt::format("7f0000001000-7f0000003000 r-xp 00001000 fe:01 99      /{}", line);
    const auto mapping = parse_maps_line(named);
    require(mapping && mapping->start == 0x7f0000001000 && mapping->end == 0x7f0000003000 &&
                mapping->executable && mapping->file_offset == 0x1000 &&
                mapping->device_major == 0xfe && mapping->device_minor == 1 && mapping->inode == 99,
            "a file's path does not change its mapping");
    require(mapping->path == named.substr(named.find('/')), "a path is whole");
  }
}

void check_syscall(std::string_view text) {
  const auto call = parse_syscall(text);
  if (!call || !*call) return;
  const auto epoll = epoll_descriptor(**call);
  require(!epoll || (*call)->number == 232 || (*call)->number == 281, "only epoll has one");
}

void check_schedstat(std::string_view text) {
  const auto times = parse_schedstat(text);
  if (!times) return;
  const auto again = parse_schedstat(fmt::format("{} {} 7\n", times->cpu_ns, times->runqueue_ns));
  require(again && *again == *times, "schedstat, written again, reads the same");
}

void check_arguments(std::string_view text) {
  const auto arguments = split_arguments(text);
  require(arguments.size() <= 1024, "bounded");
  std::string joined;
  for (const std::string& argument : arguments) {
    require(!argument.contains('\0'), "an argument ends at NUL");
    joined += argument + '\0';
  }
  if (!joined.empty()) joined.pop_back();
  require(text.starts_with(joined), "the arguments are what stands there");

  const std::string name = display_name(arguments);
  require(name.size() <= 64 && fuzz::is_utf8(name) && fuzz::has_no_control(name), "fit to show");
  require(!name.contains('/'), "a base name");
}

void check_decimal(std::string_view text) {
  const auto number = parse_decimal(text);
  if (!number) return;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  require(std::to_string(*number) == text, "the digits that stand there");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::Input(data, size).text();
  check_stat(text);
  check_maps(text);
  check_syscall(text);
  check_schedstat(text);
  check_arguments(text);
  check_decimal(text);
  return 0;
}
