// SPDX-License-Identifier: Apache-2.0
#include "userspace/governor.h"

#include <algorithm>

namespace uvtap {
namespace {

/// A tick that comes early (see Agent::next_first_figures_ns) is no judgement of its own.
constexpr uint64_t shortest_tick_ns = 900'000'000;
constexpr unsigned ticks_above_budget = 2;
constexpr unsigned calm_ticks = 5;
/// Who comes back at half the budget does not go again at the next gust.
constexpr double calm_share = 0.5;
constexpr uint64_t first_pause_ns = 10'000'000'000;
constexpr uint64_t longest_pause_ns = 320'000'000'000;
/// Who has kept within the budget for this long begins with the first pause again.
constexpr uint64_t good_conduct_ns = 600'000'000'000;

uint64_t gained(uint64_t now, uint64_t before) { return now > before ? now - before : 0; }

}  // namespace

std::map<pid_t, Governor::Gain> Governor::gains(std::span<const LoopSnapshot> loops) {
  std::map<pid_t, Gain> gains;
  std::map<LoopId, Gain> totals;
  for (const auto& loop : loops) {
    const auto known = totals_.find(loop.id);
    // A loop's first tick may hold much more than a second.
    const Gain before = known == totals_.end() ? Gain{loop.overhead_ns, loop.turns} : known->second;
    Gain& gain = gains[loop.id.pid];
    gain.overhead_ns += gained(loop.overhead_ns, before.overhead_ns);
    gain.turns += gained(loop.turns, before.turns);
    totals[loop.id] = {loop.overhead_ns, loop.turns};
  }
  totals_ = std::move(totals);
  return gains;
}

bool Governor::is_to_be_spared(Record& record, double ratio, uint64_t now_ns) const {
  record.ticks_above = ratio > budget_ratio_ ? record.ticks_above + 1 : 0;
  if (record.ticks_above < ticks_above_budget) return false;
  const bool relapsed = now_ns < record.spared_until_ns + good_conduct_ns && record.pause_ns != 0;
  record.pause_ns = relapsed ? std::min(2 * record.pause_ns, longest_pause_ns) : first_pause_ns;
  record.spared_until_ns = now_ns + record.pause_ns;
  record.ticks_above = 0;
  record.ticks_calm = 0;
  return true;
}

bool Governor::may_come_back(Record& record, double ratio, uint64_t now_ns) const {
  record.ticks_calm = ratio < budget_ratio_ * calm_share ? record.ticks_calm + 1 : 0;
  return record.ticks_calm >= calm_ticks && now_ns >= record.spared_until_ns;
}

std::vector<Move> Governor::judge(uint64_t now_ns, std::span<const LoopSnapshot> loops,
                                  const std::map<pid_t, GovernedProcess>& processes) {
  if (gained(now_ns, last_tick_ns_) < shortest_tick_ns) return {};
  const auto elapsed_ns = static_cast<double>(gained(now_ns, last_tick_ns_));
  last_tick_ns_ = now_ns;
  std::erase_if(records_, [&](const auto& entry) { return !processes.contains(entry.first); });
  std::vector<Move> moves;
  for (const auto& [pid, gain] : gains(loops)) {
    const auto process = processes.find(pid);
    if (process == processes.end()) continue;
    Record& record = records_[pid];
    const auto& [home, is_spared] = process->second;
    const double home_cost_ns = static_cast<double>(gain.turns) * costs_[home] * 1e9;
    const double cost_ns = is_spared ? home_cost_ns : static_cast<double>(gain.overhead_ns);
    const double ratio = cost_ns / elapsed_ns;
    if (is_spared && may_come_back(record, ratio, now_ns)) moves.push_back({pid, false, ratio});
    if (!is_spared && is_to_be_spared(record, ratio, now_ns)) moves.push_back({pid, true, ratio});
  }
  return moves;
}

}  // namespace uvtap
