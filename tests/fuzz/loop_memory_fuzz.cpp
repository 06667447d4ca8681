// SPDX-License-Identifier: Apache-2.0
// A process's memory. It is this process's own: a stretch of it holds what the input says, before
// and behind it there is none. A word of the input that is tagged becomes an address in there, else
// no pointer would ever lead anywhere.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "tests/fuzz/fuzz.h"
#include "userspace/loops/loop_memory.h"

using namespace uvtap;
using fuzz::require;

namespace {

constexpr uint64_t base = 0x2000'0000'0000;
constexpr size_t victim_bytes = 16384;
constexpr uint64_t tag = 0xABCD;  // in the upper sixteen bits; the lower ones are the offset
constexpr int descriptor = 9;

std::span<uint64_t> map_victim() {
  void* memory = ::mmap(reinterpret_cast<void*>(base), victim_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  require(memory == reinterpret_cast<void*>(base), "the victim can be mapped");
  return {static_cast<uint64_t*>(memory), victim_bytes / sizeof(uint64_t)};
}

void fill(std::span<uint64_t> victim, fuzz::Input& input) {
  for (uint64_t& word : victim) {
    word = input.take<uint64_t>();
    if (word >> 48 == tag) word = base + (word & 0xFFFF);
  }
}

bool is_version(std::string_view text) {
  return !text.empty() && text.size() <= 32 &&
         text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz.+-") == std::string::npos;
}

void check_loop(const ProcessMemory& memory, uint64_t loop, const LibuvLayout& layout) {
  const bool is_loop = is_js_loop(memory, loop, layout);
  require(!is_loop || (loop % 8 == 0 && is_user_range(loop, 848)), "a loop stands in memory");
  const auto counters = read_loop_counters(memory, loop, layout);
  if (!counters) {
    require(fuzz::has_no_control(counters.error().message), "one line");
    return;
  }
  require(layout.loop_count != 0 || counters->loop_count == 0, "no count where there is none");
  (void)idle_at(*counters);
}

void check_blocked(const ProcessMemory& memory, uint64_t stack, std::span<const uint64_t> victim,
                   const LibuvLayout& layout) {
  const auto loop = find_blocked_loop(memory, stack, descriptor, layout);
  if (!loop) return;
  require(is_js_loop(memory, *loop, layout), "what is found is a loop");
  require(std::ranges::find(victim, *loop) != victim.end(), "and stands on the stack");
}

void check_rest(const ProcessMemory& memory, uint64_t address) {
  if (const auto loop = find_main_loop(memory, address))
    require(*loop % 8 == 0 && is_user_range(*loop, 848), "a loop stands in memory");
  if (const auto version = read_node_version(memory, address))
    require(is_version(*version), "a version is short and plain");
  std::array<std::byte, 256> bytes{};
  require(memory.read_available(address, bytes) <= bytes.size(), "no more than there is room");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::span<uint64_t> victim = map_victim();
  fuzz::Input input(data, size);
  LibuvLayout layout{.entry_time = 136, .idle_time = 144, .loop_count = 8};
  if (input.take<uint8_t>() % 2 != 0) layout = {.entry_time = 8, .idle_time = 16};
  const auto offset = [&] { return base + input.take<uint16_t>() % (victim_bytes + 64); };
  const uint64_t loop = offset();
  const uint64_t stack = offset();
  const uint64_t place = offset();
  fill(victim, input);

  const ProcessMemory memory(::getpid());
  check_loop(memory, loop, layout);
  check_blocked(memory, stack, victim, layout);
  check_rest(memory, place);
  check_rest(memory, victim.front());
  return 0;
}
