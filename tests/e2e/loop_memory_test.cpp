// SPDX-License-Identifier: Apache-2.0
// Both ways to a real Node's main loop must end at the same address. UVTAP_NODES names a folder
// that holds <version>/node for each version to try.
#include "userspace/loops/loop_memory.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "userspace/discovery/proc_fs.h"
#include "userspace/symbols/image.h"
#include "userspace/util/unique_fd.h"

using namespace uvtap;

namespace {

constexpr const char* script = "setInterval(() => {}, 1000); process.stdout.write('ready')";

std::vector<std::string> nodes() {
  std::vector<std::string> result;
  const char* folder = std::getenv("UVTAP_NODES");
  if (folder == nullptr) return result;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto node = entry.path() / "node";
    if (std::filesystem::is_regular_file(node)) result.push_back(node);
  }
  return result;
}

// An idle Node, started and ready.
class IdleNode {
 public:
  explicit IdleNode(const std::string& node) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    const UniqueFd ready(ends[0]);
    UniqueFd output(ends[1]);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(output.get(), STDOUT_FILENO);
      ::execl(node.c_str(), "node", "-e", script, nullptr);
      ::_exit(127);
    }
    output = UniqueFd();
    char first = 0;
    if (::read(ready.get(), &first, 1) != 1) throw std::runtime_error("node did not start");
  }
  IdleNode(const IdleNode&) = delete;
  IdleNode& operator=(const IdleNode&) = delete;
  ~IdleNode() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

// Waits until the main thread is in epoll: up to ten seconds, or until the process ends.
BlockedSyscall await_epoll(const ProcFs& proc, pid_t pid) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  for (int look = 0; look < 1000; ++look) {
    const auto call = proc.blocked_syscall(pid, pid);
    if (!call) throw std::runtime_error(call.error().message);
    if (*call && epoll_descriptor(**call)) return **call;
    pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ended, 1, 10) > 0) break;
  }
  throw std::runtime_error("node never waited in epoll");
}

MappedImage executable_of(const ProcFs& proc, pid_t pid) {
  const auto executable = std::filesystem::canonical(proc.exe_path(pid)).string();
  const std::vector<MappedImage> images = proc.mapped_images(pid).value();
  for (const MappedImage& image : images) {
    if (image.path == executable) return image;
  }
  throw std::runtime_error("the executable is not mapped");
}

}  // namespace

TEST_CASE("a real Node's main loop is found both ways", "[loop_memory][node]") {
  const ProcFs proc("/proc");
  const std::vector<std::string> all = nodes();
  if (all.empty()) WARN("SKIPPED: UVTAP_NODES names no Node to try");
  for (const std::string& node : all) {
    CAPTURE(node);
    const IdleNode process(node);
    const BlockedSyscall call = await_epoll(proc, process.pid());
    const Image image = read_image(proc.exe_path(process.pid())).value();
    const LibuvLayout layout = libuv_layout(image.libuv_version.value()).value();
    const uint64_t bias = load_bias(executable_of(proc, process.pid()), image.first_load_address,
                                    image.first_load_file_offset);
    const ProcessMemory memory(process.pid());

    const auto loop = find_main_loop(memory, image.default_loop_pointer.value() + bias);
    REQUIRE(loop);
    CHECK(is_js_loop(memory, *loop, layout));
    CHECK(find_blocked_loop(memory, call.stack_pointer, epoll_descriptor(call).value(), layout) ==
          *loop);
    const auto counters = read_loop_counters(memory, *loop, layout);
    if (counters) CHECK(counters->taken_at_ns - idle_at(*counters) > 0);
    if (image.node_metadata) {
      const auto version = read_node_version(memory, *image.node_metadata + bias);
      CHECK_THAT(version ? *version : version.error().message, Catch::Matches(R"(\d+\.\d+\.\d+)"));
    }
  }
}
