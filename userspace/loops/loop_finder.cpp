// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/loop_finder.h"

#include <optional>

#include "bpf/loop_turn.h"
#include "userspace/loops/loop_memory.h"

namespace uvtap {
namespace {

std::optional<uint64_t> loop_of_thread(pid_t pid, pid_t tid, const ProbePlan& plan,
                                       const ProcFs& proc, const ProcessMemory& memory) {
  if (tid == pid && plan.default_loop_pointer) {
    auto loop = find_main_loop(memory, plan.default_loop_pointer);
    if (loop && is_js_loop(memory, *loop, plan.layout)) return *loop;
  }
  auto call = proc.blocked_syscall(pid, tid);
  if (!call || !*call) return std::nullopt;
  auto epoll_fd = epoll_descriptor(**call);
  if (!epoll_fd) return std::nullopt;
  auto loop = find_blocked_loop(memory, (*call)->stack_pointer, *epoll_fd, plan.layout);
  if (!loop) return std::nullopt;
  return *loop;
}

std::optional<loop_slot> first_look(pid_t pid, pid_t tid, uint64_t loop, const ProbePlan& plan,
                                    const ProcFs& proc, const ProcessMemory& memory,
                                    uint64_t delay_resolution_ms) {
  auto counters = read_loop_counters(memory, loop, plan.layout);
  auto times = proc.thread_times(pid, tid);
  auto fields = memory.read_value<uint64_t>(loop + plan.layout.internal_fields);
  auto backend_fd = memory.read_value<int32_t>(loop + plan.layout.backend_fd);
  if (!counters || !times || !fields || !backend_fd) return std::nullopt;
  const observed_process process = describe(plan, 0);
  loop_slot slot{};
  slot.tgid = static_cast<uint32_t>(pid);
  slot.tid = static_cast<uint32_t>(tid);
  slot.front_door = process.front_door;
  slot.entry_time_offset = process.entry_time_offset;
  slot.rereads_clock = process.rereads_clock;
  slot.loop_address = loop;
  slot.internal_fields_address = *fields;
  slot.backend_fd = *backend_fd;
  slot.observed_since_ns = counters->taken_at_ns;
  // How long it may wait in the turn in progress is not known.
  const turn_look look{counters->taken_at_ns, idle_at(*counters), times->cpu_ns, times->runqueue_ns,
                       -1};
  loop_begins(&slot, &look, delay_resolution_ms);
  return slot;
}

}  // namespace

std::vector<loop_slot> find_loops(pid_t pid, const ProbePlan& plan, const ProcFs& proc,
                                  uint64_t delay_resolution_ms) {
  std::vector<loop_slot> found;
  auto threads = proc.threads(pid);
  if (!threads) return found;
  const ProcessMemory memory(pid);
  for (pid_t tid : *threads) {
    auto loop = loop_of_thread(pid, tid, plan, proc, memory);
    if (!loop) continue;
    if (auto slot = first_look(pid, tid, *loop, plan, proc, memory, delay_resolution_ms))
      found.push_back(*slot);
  }
  return found;
}

observed_process describe(const ProbePlan& plan, uint32_t owner) {
  // libuv 1.48 stopped to read the clock again between two timers of one pass.
  const bool rereads_clock = plan.libuv_version < LibuvVersion{1, 48, 0};
  return {plan.door, plan.layout.entry_time, rereads_clock ? 1U : 0U, owner};
}

}  // namespace uvtap
