// SPDX-License-Identifier: Apache-2.0
#include "userspace/util/thread_waiting.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <span>
#include <string_view>

#include "userspace/util/monotonic_clock.h"

namespace uvtap {
namespace {

UniqueFd open_of_thread(pid_t tid, std::string_view file) {
  const auto path = fmt::format("/proc/self/task/{}/{}", tid, file);
  return UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

using Text = std::array<char, 512>;

std::string_view read_again(const UniqueFd& file, Text& text) {
  const ssize_t length = pread(file.get(), text.data(), text.size() - 1, 0);
  if (length <= 0) return {};
  text[static_cast<size_t>(length)] = '\0';
  return {text.data(), static_cast<size_t>(length)};
}

}  // namespace

ThreadWaiting::ThreadWaiting(pid_t tid)
    : schedstat_(open_of_thread(tid, "schedstat")), stat_(open_of_thread(tid, "stat")) {}

uint64_t ThreadWaiting::waited_ns() const {
  const uint64_t now_ns = monotonic_now_ns();
  Text text;
  unsigned long long cpu_ns = 0;
  unsigned long long runqueue_ns = 0;
  if (!read_again(schedstat_, text).empty())
    (void)std::sscanf(text.data(), "%llu %llu", &cpu_ns, &runqueue_ns);  // NOLINT(cert-err34-c)
  return now_ns - cpu_ns - runqueue_ns;
}

uint64_t ThreadWaiting::waited_since(uint64_t before_ns) const {
  const uint64_t after_ns = waited_ns();  // the CPU time before may have come late
  return after_ns > before_ns ? after_ns - before_ns : 0;
}

bool ThreadWaiting::waits_now() const {
  Text text;
  const std::string_view line = read_again(stat_, text);
  const size_t name_end = line.rfind(')');  // "tid (name) state ...", our own name
  return name_end == std::string_view::npos || line.substr(name_end, 3) != ") R";
}

}  // namespace uvtap
