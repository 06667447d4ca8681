// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/loop_memory.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <stdexcept>

using namespace uvtap;

namespace {

constexpr size_t page = 4096;
// Offsets as of libuv 1.45 to 1.52, and an older layout without loop_count.
constexpr LibuvLayout layout{.entry_time = 136, .idle_time = 144, .loop_count = 8};
constexpr LibuvLayout old_layout{.entry_time = 8, .idle_time = 16};

// A stretch of memory, and a child process that has the same at the same addresses: it is forked
// when the test has written what it wants, and only waits to be killed.
class Victim {
 public:
  Victim() {
    void* memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    memory_ = static_cast<std::byte*>(memory);
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;
  ~Victim() {
    end();
    ::munmap(memory_, size);
  }

  [[nodiscard]] uint64_t address(size_t offset) const {
    return reinterpret_cast<uint64_t>(memory_) + offset;
  }
  template <typename Value>
  void put(size_t offset, Value value) {
    std::memcpy(memory_ + offset, &value, sizeof(value));
  }
  void make_hole(size_t offset, size_t length) { ::munmap(memory_ + offset, length); }

  // A loop that is_js_loop() accepts, its fields 1 KiB behind it.
  uint64_t put_loop(size_t offset, int descriptor, uint32_t flags = 1) {
    const uint64_t queue = address(offset + layout.handle_queue);
    put(offset + layout.handle_queue, queue);
    put(offset + layout.handle_queue + 8, queue);
    put(offset + layout.internal_fields, address(offset + 1024));
    put(offset + layout.backend_fd, descriptor);
    put(offset + 1024, flags);
    return address(offset);
  }

  // Must come before any other process of the test may have been read: forks the child.
  ProcessMemory start() {
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error("fork failed");
    if (child_ == 0) {
      while (true) ::pause();
    }
    return ProcessMemory(child_);
  }
  void end() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }

  static constexpr size_t size = 64 * page;

 private:
  std::byte* memory_ = nullptr;
  pid_t child_ = -1;
};

// Visible, and no pass of anything: the machine may forbid to read even one's own children.
bool may_read(const ProcessMemory& memory, const Victim& victim) {
  if (memory.read_value<uint64_t>(victim.address(0))) return true;
  WARN("SKIPPED: this machine does not let a process read its child's memory");
  return false;
}

constexpr size_t stack = 16 * page;  // where the victim's stack pointer points to
constexpr size_t first_loop = 2 * page;
constexpr size_t second_loop = 4 * page;

}  // namespace

TEST_CASE("only user addresses are read", "[loop_memory]") {
  CHECK(is_user_range(0x400000, 8));
  CHECK(is_user_range(0x7fff'ffff'eff8, 8));
  CHECK_FALSE(is_user_range(0, 8));
  CHECK_FALSE(is_user_range(0xffff, 8));
  CHECK_FALSE(is_user_range(0x7fff'ffff'eff9, 8));
  CHECK_FALSE(is_user_range(0x400000, UINT64_MAX));
  CHECK_FALSE(is_user_range(0xffff'8000'0000'0000, 8));
  CHECK_FALSE(is_user_range(UINT64_MAX, 1));
}

TEST_CASE("memory is read up to a hole", "[loop_memory]") {
  Victim victim;
  victim.put(8, uint64_t{42});
  victim.make_hole(3 * page, page);
  const ProcessMemory memory = victim.start();
  if (!may_read(memory, victim)) return;

  CHECK(memory.read_value<uint64_t>(victim.address(8)) == 42);
  CHECK_FALSE(memory.read_value<uint64_t>(victim.address(3 * page)));
  CHECK_FALSE(memory.read_value<uint64_t>(victim.address(3 * page - 4)));
  CHECK_FALSE(memory.read_value<uint64_t>(0));
  CHECK_FALSE(memory.read_value<uint64_t>(0xffff'8000'0000'0000));

  std::vector<std::byte> bytes(8 * page);
  CHECK(memory.read_available(victim.address(16), bytes) == 3 * page - 16);
  CHECK(memory.read_available(victim.address(4 * page), bytes) == 8 * page);
  CHECK(memory.read_available(victim.address(3 * page), bytes) == 0);
  CHECK(memory.read_available(0x7fff'ffff'e000, bytes) == 0);
  CHECK(memory.read_available(UINT64_MAX - 7, bytes) == 0);
}

TEST_CASE("words are read around holes", "[loop_memory]") {
  Victim victim;
  victim.make_hole(3 * page, page);
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < 3000; ++i) {
    const size_t offset = i * 64;
    const bool hole = offset / page == 3;
    if (!hole) victim.put(offset, uint64_t{i});
    addresses.push_back(victim.address(offset));
  }
  const ProcessMemory memory = victim.start();
  if (!may_read(memory, victim)) return;

  const auto words = memory.read_words(addresses);
  REQUIRE(words.size() == addresses.size());
  for (size_t i = 0; i < words.size(); ++i) {
    const bool hole = i * 64 / page == 3;
    if (words[i] != (hole ? std::nullopt : std::optional<uint64_t>(i))) FAIL("wrong word " << i);
  }
}

TEST_CASE("counters are read with the time they were taken", "[loop_memory]") {
  Victim victim;
  const uint64_t loop = victim.put_loop(first_loop, 9);
  victim.put(first_loop + 1024 + 8, uint64_t{77});
  victim.put(first_loop + 1024 + 136, uint64_t{1000});
  victim.put(first_loop + 1024 + 144, uint64_t{500});
  const ProcessMemory memory = victim.start();
  if (!may_read(memory, victim)) return;

  const auto counters = read_loop_counters(memory, loop, layout);
  if (!counters) {
    CHECK(counters.error().message.find("unstable") != std::string::npos);
    WARN("SKIPPED: five reads in a row took longer than 1 ms: this machine is busy");
    return;
  }
  CHECK(counters->flags == 1);
  CHECK(counters->loop_count == 77);
  CHECK(counters->entry_time_ns == 1000);
  CHECK(counters->idle_time_ns == 500);
  CHECK(counters->taken_at_ns > 1000);
  CHECK(idle_at(*counters) == 500 + counters->taken_at_ns - 1000);
}

TEST_CASE("the old layout has no loop_count", "[loop_memory]") {
  Victim victim;
  const uint64_t loop = victim.put_loop(first_loop, 9);
  victim.put(first_loop + 1024 + 8, uint64_t{0});
  victim.put(first_loop + 1024 + 16, uint64_t{500});
  const ProcessMemory memory = victim.start();
  if (!may_read(memory, victim)) return;

  const auto counters = read_loop_counters(memory, loop, old_layout);
  if (!counters) {
    WARN("SKIPPED: five reads in a row took longer than 1 ms: this machine is busy");
    return;
  }
  CHECK(counters->loop_count == 0);
  CHECK(counters->flags == 1);
  CHECK(idle_at(*counters) == 500);
}

TEST_CASE("idle time counts the wait in progress", "[loop_memory]") {
  const auto idle = [](uint64_t entry_ns) {
    return idle_at({.entry_time_ns = entry_ns, .idle_time_ns = 100, .taken_at_ns = 5000});
  };
  CHECK(idle(0) == 100);
  CHECK(idle(4000) == 1100);
  CHECK(idle(5001) == 100);  // the wait began after the timestamp
  CHECK(idle(UINT64_MAX) == 100);
}

TEST_CASE("counters behind a wrong pointer are an error", "[loop_memory]") {
  Victim victim;
  const uint64_t loop = victim.put_loop(first_loop, 9);
  victim.make_hole(8 * page, page);
  victim.put(first_loop + layout.internal_fields,
             GENERATE(uint64_t{0}, uint64_t{8}, uint64_t{0xffff'8000'0000'0000}, UINT64_MAX,
                      uint64_t{0x7fff'ffff'eff8}, uint64_t{0x1234'5678'9abc}));
  const ProcessMemory memory = victim.start();
  if (!may_read(memory, victim)) return;

  CHECK_FALSE(read_loop_counters(memory, loop, layout));
  CHECK_FALSE(read_loop_counters(memory, victim.address(8 * page), layout));
  CHECK_FALSE(read_loop_counters(memory, UINT64_MAX, layout));
  CHECK_FALSE(is_js_loop(memory, loop, layout));
}

TEST_CASE("a loop that runs JavaScript is told from what is none", "[loop_memory]") {
  Victim victim;
  const uint64_t loop = victim.put_loop(first_loop, 9);
  SECTION("as libuv leaves it") {
    const ProcessMemory memory = victim.start();
    if (may_read(memory, victim)) CHECK(is_js_loop(memory, loop, layout));
    return;
  }
  SECTION("no idle metrics") { victim.put_loop(first_loop, 9, 0); }
  SECTION("flags that are no flags") { victim.put_loop(first_loop, 9, 0x4141'4141); }
  SECTION("no descriptor") { victim.put_loop(first_loop, -1); }
  SECTION("a queue that leads elsewhere") { victim.put(first_loop + 16, victim.address(100)); }
  SECTION("a queue that leads nowhere") { victim.put(first_loop + 16, uint64_t{0}); }
  SECTION("a queue at an odd address") {
    victim.put(first_loop + 16, victim.address(first_loop + 17));
  }
  SECTION("a queue beyond the address space") { victim.put(first_loop + 16, UINT64_MAX - 7); }
  const ProcessMemory memory = victim.start();
  if (!may_read(memory, victim)) return;
  CHECK_FALSE(is_js_loop(memory, loop, layout));
  CHECK_FALSE(is_js_loop(memory, loop + 1, layout));
  CHECK_FALSE(is_js_loop(memory, 0, layout));
}

TEST_CASE("the main loop is what default_loop_ptr points to", "[loop_memory]") {
  Victim victim;
  victim.put(0, victim.address(first_loop));
  victim.put(16, uint64_t{0xdead'beef'dead'beef});
  victim.put(24, victim.address(first_loop + 3));
  const ProcessMemory memory = victim.start();
  if (!may_read(memory, victim)) return;
  CHECK(find_main_loop(memory, victim.address(0)) == victim.address(first_loop));
  CHECK(find_main_loop(memory, victim.address(8)).error().message.find("no default loop yet") !=
        std::string::npos);
  CHECK_FALSE(find_main_loop(memory, victim.address(16)));
  CHECK_FALSE(find_main_loop(memory, victim.address(24)));
}

TEST_CASE("a blocked loop is found among lies", "[loop_memory]") {
  Victim victim;
  const uint64_t loop = victim.put_loop(first_loop, 9);
  victim.make_hole(8 * page, page);
  victim.put(stack + 0, uint64_t{0});
  victim.put(stack + 8, UINT64_MAX);
  victim.put(stack + 16, uint64_t{0xffff'8000'0000'0000});
  victim.put(stack + 24, victim.address(8 * page));       // unmapped
  victim.put(stack + 32, victim.address(8 * page - 64));  // backend_fd just beyond the edge
  victim.put(stack + 40, victim.address(stack));          // itself
  victim.put(stack + 48, victim.put_loop(10 * page, 9, 0));
  victim.put(stack + 56, victim.put_loop(11 * page, 9, 0xffff'ffff));
  victim.put(stack + 64, victim.put_loop(12 * page, 8));
  victim.put(stack + 72, victim.put_loop(13 * page, 9));
  victim.put(13 * page + layout.handle_queue, victim.address(12 * page + layout.handle_queue));
  victim.put(stack + 1000, loop);
  victim.put(stack + 2000, loop);  // twice is still one
  const ProcessMemory memory = victim.start();
  if (!may_read(memory, victim)) return;

  CHECK(find_blocked_loop(memory, victim.address(stack), 9, layout) == loop);
  CHECK(find_blocked_loop(memory, victim.address(stack), 7, layout)
            .error()
            .message.find("0 loops with epoll descriptor 7") == 0);
  CHECK_FALSE(find_blocked_loop(memory, victim.address(stack) + 4, 9, layout));
  CHECK_FALSE(find_blocked_loop(memory, 0, 9, layout));
  CHECK_FALSE(find_blocked_loop(memory, UINT64_MAX - 7, 9, layout));
}

TEST_CASE("two loops on one stack are one too many", "[loop_memory]") {
  Victim victim;
  victim.put(stack + 8, victim.put_loop(first_loop, 9));
  victim.put(stack + 64, victim.put_loop(second_loop, 9));
  const ProcessMemory memory = victim.start();
  if (!may_read(memory, victim)) return;
  CHECK(find_blocked_loop(memory, victim.address(stack), 9, layout)
            .error()
            .message.find("2 loops with epoll descriptor 9") == 0);
}

TEST_CASE("the search goes 64 KiB up, or to the end of the stack", "[loop_memory]") {
  Victim victim;
  const uint64_t loop = victim.put_loop(first_loop, 9);
  SECTION("the last word counts") {
    victim.put(stack + 65536 - 8, loop);
    const ProcessMemory memory = victim.start();
    if (may_read(memory, victim)) {
      CHECK(find_blocked_loop(memory, victim.address(stack), 9, layout) == loop);
    }
  }
  SECTION("the word behind it does not") {
    victim.put(stack + 65536, loop);
    const ProcessMemory memory = victim.start();
    if (may_read(memory, victim)) {
      CHECK_FALSE(find_blocked_loop(memory, victim.address(stack), 9, layout));
    }
  }
  SECTION("a stack that ends soon is read to its end") {
    victim.put(stack + page - 8, loop);
    victim.make_hole(stack + page, page);
    const ProcessMemory memory = victim.start();
    if (may_read(memory, victim)) {
      CHECK(find_blocked_loop(memory, victim.address(stack + 16), 9, layout) == loop);
    }
  }
}

TEST_CASE("a stack full of wrong pointers costs a bounded effort", "[loop_memory]") {
  Victim victim;
  for (size_t i = 0; i < 8192; ++i)
    victim.put(stack + 8 * i, uint64_t{0x2000'0000'0000} + i * page);
  const ProcessMemory memory = victim.start();
  if (!may_read(memory, victim)) return;
  CHECK_FALSE(find_blocked_loop(memory, victim.address(stack), 9, layout));

  const std::vector<uint64_t> unmapped(4096, 0x2000'0000'0000);
  std::vector<uint64_t> addresses = unmapped;
  addresses.push_back(victim.address(0));
  CHECK_FALSE(memory.read_words(addresses).back());  // given up before
}

TEST_CASE("a process that has ended cannot be read", "[loop_memory]") {
  Victim victim;
  const uint64_t loop = victim.put_loop(first_loop, 9);
  victim.put(stack, loop);
  const ProcessMemory memory = victim.start();
  victim.end();
  CHECK_FALSE(read_loop_counters(memory, loop, layout));
  CHECK_FALSE(is_js_loop(memory, loop, layout));
  CHECK_FALSE(find_main_loop(memory, victim.address(0)));
  CHECK_FALSE(find_blocked_loop(memory, victim.address(stack), 9, layout));
  CHECK_FALSE(read_node_version(memory, victim.address(0)));
}

TEST_CASE("Node's version is a short text of known characters", "[loop_memory]") {
  Victim victim;
  const auto put_string = [&](size_t offset, uint64_t text, uint64_t length) {
    victim.put(offset, text);
    victim.put(offset + 8, length);
  };
  constexpr size_t texts = page;
  std::memcpy(reinterpret_cast<char*>(victim.address(texts)), "22.23.5-nightly+a\n", 18);
  put_string(0, victim.address(texts), 7);
  put_string(16, victim.address(texts), 17);
  put_string(32, victim.address(texts), 18);  // the line break
  put_string(48, victim.address(texts), 0);
  put_string(64, victim.address(texts), 33);
  put_string(80, victim.address(texts), UINT64_MAX);
  put_string(96, 0, 7);
  put_string(112, UINT64_MAX, 7);
  put_string(128, victim.address(texts) + 100, 7);                      // zeros
  put_string(144, victim.address(texts) + 100, victim.address(texts));  // old form, length zero
  put_string(160, victim.address(texts + 200), victim.address(texts));
  victim.put(texts + 200 - 24, uint64_t{7});
  victim.put(texts + 200, std::array{'1', '6', '.', '2', '0', '.', '2'});
  const ProcessMemory memory = victim.start();
  if (!may_read(memory, victim)) return;
  CHECK(read_node_version(memory, victim.address(0)) == "22.23.5");
  CHECK(read_node_version(memory, victim.address(160)) == "16.20.2");
  CHECK(read_node_version(memory, victim.address(16)) == "22.23.5-nightly+a");
  for (size_t offset = 32; offset <= 144; offset += 16) {
    CAPTURE(offset);
    CHECK_FALSE(read_node_version(memory, victim.address(offset)));
  }
}
