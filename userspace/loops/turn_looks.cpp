// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/turn_looks.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>

namespace uvtap {
namespace {

/// For all of them: one look takes some ten microseconds and does not wait.
constexpr std::chrono::milliseconds limit{100};

std::optional<TurnLook> look_at(const TurnLookRequest& wanted, const ProcFs& proc) {
  const auto counters =
      read_loop_counters(ProcessMemory(wanted.pid), wanted.loop_address, wanted.layout);
  if (!counters) return std::nullopt;
  // Most loops wait at a given moment, and the question to the kernel is a fifth of a tick's cost.
  if (counters->entry_time_ns != 0 && !wanted.times_while_waiting)
    return TurnLook{*counters, std::nullopt};
  const auto times = proc.thread_times(wanted.pid, wanted.tid);
  if (!times) return std::nullopt;
  return TurnLook{*counters, *times};
}

}  // namespace

/// Shared with the thread that reads it, which may hang and come back when nobody waits any more.
struct TurnLooks::Batch {
  ProcFs proc;
  std::vector<TurnLookRequest> wanted;
  std::vector<std::optional<TurnLook>> answers;
  std::atomic<size_t> done = 0;  ///< answers up to here belong to who waits
};

std::vector<std::optional<TurnLook>> TurnLooks::at(const std::vector<TurnLookRequest>& requests) {
  std::vector<std::optional<TurnLook>> answers(requests.size());
  // Ends: each round gives all answers, or goes on behind a look that hangs.
  for (auto chosen = allowed(requests, 0); !chosen.empty();) {
    auto batch = std::make_shared<Batch>(proc_);
    for (const size_t index : chosen) batch->wanted.push_back(requests[index]);
    const size_t done = read(batch);
    for (size_t i = 0; i < done; ++i) answers[chosen[i]] = batch->answers[i];
    if (done == chosen.size()) break;
    chosen = allowed(requests, chosen[done] + 1);
  }
  return answers;
}

std::vector<size_t> TurnLooks::allowed(const std::vector<TurnLookRequest>& requests, size_t first) {
  std::vector<size_t> chosen;
  for (size_t index = first; index < requests.size(); ++index)
    if (requests[index].pid != 0 && looks_->answers(requests[index].pid)) chosen.push_back(index);
  return chosen;
}

size_t TurnLooks::read(const std::shared_ptr<Batch>& batch) {
  batch->answers.resize(batch->wanted.size());
  const auto hang = thread_.run([batch] { read_all(*batch); }, limit);
  if (!hang) return batch->wanted.size();
  const size_t done = std::min<size_t>(batch->done, batch->wanted.size() - 1);
  looks_->note_hang(batch->wanted[done].pid, "its memory", *hang);
  return done;
}

void TurnLooks::read_all(Batch& batch) {
  for (size_t index = 0; index < batch.wanted.size(); ++index) {
    batch.answers[index] = look_at(batch.wanted[index], batch.proc);
    batch.done = index + 1;
  }
}

}  // namespace uvtap
