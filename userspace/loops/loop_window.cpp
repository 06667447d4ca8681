// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/loop_window.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace uvtap {
namespace {

constexpr uint64_t one_second_ns = 1'000'000'000;

/// Raises a total to a newer value and returns by how much; a value that went back changes nothing.
uint64_t raise(uint64_t& total, uint64_t value) {
  const uint64_t gain = value > total ? value - total : 0;
  total += gain;
  return gain;
}

}  // namespace

LoopTotals& LoopTotals::operator+=(const LoopTotals& other) {
  active_ns += other.active_ns;
  idle_ns += other.idle_ns;
  cpu_ns += other.cpu_ns;
  runqueue_ns += other.runqueue_ns;
  blocked_ns += other.blocked_ns;
  turns += other.turns;
  overhead_ns += other.overhead_ns;
  return *this;
}

LoopTotals& LoopTotals::operator-=(const LoopTotals& other) {
  active_ns -= other.active_ns;
  idle_ns -= other.idle_ns;
  cpu_ns -= other.cpu_ns;
  runqueue_ns -= other.runqueue_ns;
  blocked_ns -= other.blocked_ns;
  turns -= other.turns;
  overhead_ns -= other.overhead_ns;
  return *this;
}

LoopWindow::LoopWindow(uint64_t observed_since_ns, uint64_t window_ns)
    : observed_since_ns_(observed_since_ns), window_ns_(window_ns) {
  previous_.taken_at_ns = observed_since_ns;
}

const LoopDelta& LoopWindow::advance(const LoopSnapshot& snapshot) {
  append(difference(snapshot));
  stall_ns_ = snapshot.stall_ns;
  overdue_delay_ns_ = snapshot.overdue_delay_ns;
  ended_ = false;
  expire(snapshot.taken_at_ns);
  return deltas_.back();
}

const LoopDelta* LoopWindow::finish() {
  if (ended_) return nullptr;
  ended_ = true;
  overdue_delay_ns_ = 0;
  const uint64_t stretch_ns = std::exchange(stall_ns_, 0);
  if (stretch_ns == 0) return nullptr;

  const uint64_t end_ns = previous_.taken_at_ns;
  LoopDelta last;
  last.begin_ns = end_ns;
  last.end_ns = end_ns;
  last.totals.turns = 1;
  add_value(turn_geometry, last.finished_turns, stretch_ns);
  append(std::move(last));
  return &deltas_.back();
}

void LoopWindow::expire(uint64_t now_ns) {
  const size_t keep = ended_ ? 0 : 1;
  while (deltas_.size() > keep) {
    const LoopDelta& oldest = deltas_.front();
    const uint64_t middle_ns = oldest.begin_ns + ((oldest.end_ns - oldest.begin_ns) / 2);
    if (middle_ns + window_ns_ >= now_ns) return;
    drop_oldest();
  }
}

bool LoopWindow::covers_one_second(uint64_t now_ns) const {
  return !deltas_.empty() && observed_since_ns_ + one_second_ns <= now_ns;
}

uint64_t LoopWindow::observed_ns() const {
  return std::max(sums_.totals.active_ns + sums_.totals.idle_ns,
                  sums_.busy_stretches_ns + stall_ns_);
}

LoopDelta LoopWindow::difference(const LoopSnapshot& snapshot) {
  LoopDelta delta;
  delta.begin_ns = previous_.taken_at_ns;
  raise(previous_.taken_at_ns, snapshot.taken_at_ns);
  delta.end_ns = previous_.taken_at_ns;
  delta.totals.active_ns = raise(previous_.active_ns, snapshot.active_ns);
  delta.totals.idle_ns = raise(previous_.idle_ns, snapshot.idle_ns);
  delta.totals.cpu_ns = raise(previous_.cpu_ns, snapshot.cpu_ns);
  delta.totals.runqueue_ns = raise(previous_.runqueue_ns, snapshot.runqueue_ns);
  delta.totals.blocked_ns = raise(previous_.blocked_ns, snapshot.blocked_ns);
  delta.totals.overhead_ns = raise(previous_.overhead_ns, snapshot.overhead_ns);
  delta.totals.turns = raise(previous_.turns, snapshot.turns);
  if (delta.totals.turns != 0) {
    delta.finished_turns = raise(previous_.turn_histogram, snapshot.turn_histogram);
  }
  // Not behind the same test: the virtual timer also fires while a loop waits and makes no turn.
  delta.finished_delays = raise(previous_.delay_histogram, snapshot.delay_histogram);
  return delta;
}

void LoopWindow::append(LoopDelta delta) {
  sums_.totals += delta.totals;
  sums_.busy_stretches_ns += total_ns(delta.finished_turns);
  add(sums_.turn_histogram, delta.finished_turns);
  add(sums_.delay_histogram, delta.finished_delays);
  deltas_.push_back(std::move(delta));
}

void LoopWindow::drop_oldest() {
  const LoopDelta& oldest = deltas_.front();
  sums_.totals -= oldest.totals;
  sums_.busy_stretches_ns -= total_ns(oldest.finished_turns);
  subtract(sums_.turn_histogram, oldest.finished_turns);
  subtract(sums_.delay_histogram, oldest.finished_delays);
  deltas_.pop_front();
}

}  // namespace uvtap
