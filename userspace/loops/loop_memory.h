// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "userspace/loops/process_memory.h"
#include "userspace/symbols/libuv_layout.h"
#include "userspace/util/result.h"

namespace uvtap {

// libuv's loops, read from a process's memory. Nothing found there is believed before it is
// checked.

/// What libuv counts for one loop, at one moment.
struct LoopCounters {
  uint64_t entry_time_ns = 0;  ///< since when the loop waits; 0 while it is busy
  uint64_t idle_time_ns = 0;   ///< waits that are over
  uint64_t loop_count = 0;     ///< turns; 0 where the libuv version does not count them
  uint64_t loop_time_ms = 0;   ///< the loop's own clock, set after each poll
  uint64_t taken_at_ns = 0;    ///< CLOCK_MONOTONIC, just before the counters were read
  uint32_t flags = 0;
};

/// Reads the counters of a loop. A read that took longer than 15 µs (the reader was preempted: by
/// then the counters may be 18 ms from their timestamp), or that met the loop in the middle of an
/// update, is repeated up to five times; then the quickest one counts, if it took less than 1 ms,
/// else the error says "unstable".
[[nodiscard]] Result<LoopCounters> read_loop_counters(const ProcessMemory& memory, uint64_t loop,
                                                      const LibuvLayout& layout);

/// How long the loop had been idle in all when the counters were taken, the wait in progress
/// included.
[[nodiscard]] uint64_t idle_at(const LoopCounters& counters);

/// Whether a uv_loop_t stands at this address that runs JavaScript: its queue of handles leads back
/// to it, and UV_METRICS_IDLE_TIME is on.
[[nodiscard]] bool is_js_loop(const ProcessMemory& memory, uint64_t loop,
                              const LibuvLayout& layout);

/// The main loop, from where libuv's default_loop_ptr stands in the process. Fails while there is
/// none yet. The loop itself is not checked: see is_js_loop().
[[nodiscard]] Result<uint64_t> find_main_loop(const ProcessMemory& memory,
                                              uint64_t default_loop_pointer);

/// The loop whose thread is blocked in a wait on `epoll_descriptor`: somewhere in the 64 KiB above
/// the stack pointer stands the address of a JavaScript loop that has this descriptor. Fails where
/// there is none, or more than one.
[[nodiscard]] Result<uint64_t> find_blocked_loop(const ProcessMemory& memory,
                                                 uint64_t stack_pointer, int epoll_descriptor,
                                                 const LibuvLayout& layout);

/// Node's version, such as "22.23.5", from node::per_process::metadata, which begins with it as a
/// std::string of libstdc++.
[[nodiscard]] Result<std::string> read_node_version(const ProcessMemory& memory, uint64_t metadata);

}  // namespace uvtap
