// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/loop_memory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "userspace/util/monotonic_clock.h"

namespace uvtap {

namespace {

constexpr int attempts = 5;
constexpr uint64_t good_read_ns = 15'000;
/// What a look may be off by at the most, where no read is a good one: on an emulated machine, or a
/// very busy one.
constexpr uint64_t bearable_read_ns = 1'000'000;
constexpr size_t stack_scan_bytes = size_t{64} << 10;
constexpr size_t max_version_length = 32;
constexpr uint64_t pointer_size = 8;
constexpr uint64_t loop_size = 848;           // sizeof(uv_loop_t), libuv 1.28 to 1.52
constexpr uint32_t uv_metrics_idle_time = 1;  // UV_METRICS_IDLE_TIME in internal_fields->flags
// libuv has defined no more than a handful of flags: anything beyond a byte is not this field.
constexpr uint32_t flags_end = 1U << 8;

template <typename Value>
std::span<std::byte> bytes_of(Value& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

bool may_be_loop(uint64_t address) {
  return address % pointer_size == 0 && is_user_range(address, loop_size);
}

// provider_entry_time and the provider_idle_time that follows it.
struct IdleCounters {
  uint64_t entry_time_ns = 0;
  uint64_t idle_time_ns = 0;
  bool operator==(const IdleCounters&) const = default;
};

// One attempt; nothing where it met an update.
Result<std::optional<LoopCounters>> try_read_counters(const ProcessMemory& memory, uint64_t loop,
                                                      uint64_t fields, const LibuvLayout& layout,
                                                      uint64_t& took_ns) {
  LoopCounters counters;
  IdleCounters idle;
  // libuv ends a wait with two stores, entry time and idle time. Two looks, some 100 ns apart, that
  // agree did not fall between them.
  IdleCounters again;
  const uint64_t counted = layout.loop_count == 0 ? 0 : sizeof(counters.loop_count);
  const std::array pieces = {
      ProcessMemory::Piece{fields + layout.entry_time, bytes_of(idle)},
      ProcessMemory::Piece{fields, bytes_of(counters.flags)},
      ProcessMemory::Piece{fields + layout.loop_count,
                           bytes_of(counters.loop_count).first(counted)},
      ProcessMemory::Piece{loop + layout.time, bytes_of(counters.loop_time_ms)},
      ProcessMemory::Piece{fields + layout.entry_time, bytes_of(again)},
  };
  counters.taken_at_ns = monotonic_now_ns();
  const Result<void> done = memory.read_pieces(pieces);
  took_ns = monotonic_now_ns() - counters.taken_at_ns;
  if (!done) return std::unexpected(done.error());
  if (idle != again) return std::nullopt;
  counters.entry_time_ns = idle.entry_time_ns;
  counters.idle_time_ns = idle.idle_time_ns;
  return counters;
}

// handle_queue.next->prev leads back to handle_queue, as in any list that closes on itself.
bool queue_closes(const ProcessMemory& memory, uint64_t loop, const LibuvLayout& layout) {
  const uint64_t queue = loop + layout.handle_queue;
  const Result<uint64_t> next = memory.read_value<uint64_t>(queue);
  if (!next || *next % pointer_size != 0) return false;
  const Result<uint64_t> back = memory.read_value<uint64_t>(*next + pointer_size);
  return back && *back == queue;
}

bool has_idle_metrics(const ProcessMemory& memory, uint64_t loop, const LibuvLayout& layout) {
  const Result<uint64_t> fields = memory.read_value<uint64_t>(loop + layout.internal_fields);
  if (!fields || *fields % pointer_size != 0) return false;
  const Result<uint32_t> flags = memory.read_value<uint32_t>(*fields);
  return flags && *flags < flags_end && (*flags & uv_metrics_idle_time) != 0;
}

// The different values on a stretch of stack that may be the address of a loop.
std::vector<uint64_t> candidates_on_stack(const ProcessMemory& memory, uint64_t stack_pointer) {
  std::vector<uint64_t> words(stack_scan_bytes / pointer_size);
  const size_t length =
      memory.read_available(stack_pointer, std::as_writable_bytes(std::span(words)));
  words.resize(length / pointer_size);
  std::erase_if(words, [](uint64_t word) { return !may_be_loop(word); });
  std::ranges::sort(words);
  words.erase(std::ranges::unique(words).begin(), words.end());
  return words;
}

// Keeps the candidates whose backend_fd is the descriptor.
std::vector<uint64_t> with_descriptor(const ProcessMemory& memory,
                                      const std::vector<uint64_t>& candidates, int descriptor,
                                      const LibuvLayout& layout) {
  std::vector<uint64_t> addresses(candidates.size());
  std::ranges::transform(candidates, addresses.begin(),
                         [&](uint64_t loop) { return loop + layout.backend_fd; });
  const std::vector<std::optional<uint64_t>> words = memory.read_words(addresses);
  std::vector<uint64_t> result;
  for (size_t i = 0; i < candidates.size(); ++i) {
    // The lower half of the word: backend_fd is an int.
    if (words[i] && static_cast<int>(*words[i]) == descriptor) result.push_back(candidates[i]);
  }
  return result;
}

struct TextPlace {
  uint64_t address = 0;
  uint64_t length = 0;
};

// Where the text of a short std::string stands. libstdc++ has two forms: {pointer, length, ...},
// and before C++11 (official builds up to Node 16) a pointer alone, with {length, capacity,
// references} in the 24 bytes before the text. In the second form the next word is another string's
// pointer.
Result<TextPlace> find_text(const ProcessMemory& memory, uint64_t string) {
  const Result<std::array<uint64_t, 2>> words = memory.read_value<std::array<uint64_t, 2>>(string);
  if (!words) return std::unexpected(words.error());
  const auto [address, next_word] = *words;
  if (!is_user_range(next_word, 1)) return TextPlace{address, next_word};
  const Result<uint64_t> length = memory.read_value<uint64_t>(address - 24);
  if (!length) return std::unexpected(length.error());
  return TextPlace{address, *length};
}

bool is_version_character(char character) {
  return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'z') ||
         character == '.' || character == '+' || character == '-';
}

}  // namespace

Result<LoopCounters> read_loop_counters(const ProcessMemory& memory, uint64_t loop,
                                        const LibuvLayout& layout) {
  const Result<uint64_t> fields = memory.read_value<uint64_t>(loop + layout.internal_fields);
  if (!fields) return std::unexpected(fields.error());
  std::optional<LoopCounters> best;
  uint64_t best_took_ns = bearable_read_ns;
  for (int attempt = 0; attempt < attempts && best_took_ns > good_read_ns; ++attempt) {
    uint64_t took_ns = 0;
    const Result<std::optional<LoopCounters>> counters =
        try_read_counters(memory, loop, *fields, layout, took_ns);
    if (!counters) return std::unexpected(counters.error());
    if (!*counters || took_ns > best_took_ns) continue;
    best = **counters;
    best_took_ns = took_ns;
  }
  if (best) return *best;
  return fail("the counters of loop {:#x} in process {} are unstable", loop, memory.pid());
}

uint64_t idle_at(const LoopCounters& counters) {
  // A wait that began after the timestamp (or a counter that lies) adds nothing.
  const bool waiting = counters.entry_time_ns != 0 && counters.entry_time_ns < counters.taken_at_ns;
  return counters.idle_time_ns + (waiting ? counters.taken_at_ns - counters.entry_time_ns : 0);
}

bool is_js_loop(const ProcessMemory& memory, uint64_t loop, const LibuvLayout& layout) {
  if (!may_be_loop(loop)) return false;
  const Result<int> descriptor = memory.read_value<int>(loop + layout.backend_fd);
  if (!descriptor || *descriptor < 0 || !has_idle_metrics(memory, loop, layout)) return false;
  // A busy loop may change its queue between two reads, so one mismatch proves nothing.
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (queue_closes(memory, loop, layout)) return true;
  }
  return false;
}

Result<uint64_t> find_main_loop(const ProcessMemory& memory, uint64_t default_loop_pointer) {
  const Result<uint64_t> loop = memory.read_value<uint64_t>(default_loop_pointer);
  if (!loop) return loop;
  if (*loop == 0) return fail("process {} has no default loop yet", memory.pid());
  if (!may_be_loop(*loop)) return fail("the default loop of process {} is no loop", memory.pid());
  return loop;
}

Result<uint64_t> find_blocked_loop(const ProcessMemory& memory, uint64_t stack_pointer,
                                   int epoll_descriptor, const LibuvLayout& layout) {
  if (stack_pointer % pointer_size != 0) return fail("{:#x} is no stack pointer", stack_pointer);
  const std::vector<uint64_t> candidates = candidates_on_stack(memory, stack_pointer);
  std::vector<uint64_t> loops = with_descriptor(memory, candidates, epoll_descriptor, layout);
  std::erase_if(loops, [&](uint64_t loop) { return !is_js_loop(memory, loop, layout); });
  if (loops.size() == 1) return loops.front();
  return fail("{} loops with epoll descriptor {} on the stack of process {}", loops.size(),
              epoll_descriptor, memory.pid());
}

Result<std::string> read_node_version(const ProcessMemory& memory, uint64_t metadata) {
  const Result<TextPlace> place = find_text(memory, metadata);
  if (!place) return std::unexpected(place.error());
  if (place->length == 0 || place->length > max_version_length) {
    return fail("process {} has no version text of 1 to {} characters", memory.pid(),
                max_version_length);
  }
  std::string version(place->length, '\0');
  const Result<void> done = memory.read(place->address, std::as_writable_bytes(std::span(version)));
  if (!done) return std::unexpected(done.error());
  if (!std::ranges::all_of(version, is_version_character)) {
    return fail("the version text of process {} is no version", memory.pid());
  }
  return version;
}

}  // namespace uvtap
