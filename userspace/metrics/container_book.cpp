// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/container_book.h"

#include <algorithm>
#include <utility>

#include "userspace/metrics/units.h"

namespace uvtap {

std::vector<ContainerMetrics> ContainerBook::update(uint64_t now_ns,
                                                    std::span<const ObservedLoop> loops,
                                                    std::span<const LiveProcess> processes) {
  note_live_processes(processes);
  for (const ObservedLoop& loop : loops) observe(loop, now_ns);
  finish_unseen_loops(now_ns);
  forget_what_is_gone();
  return collect(now_ns);
}

const LoopWindow* ContainerBook::window(const LoopId& loop) const {
  const auto found = loops_.find(loop);
  return found == loops_.end() ? nullptr : &found->second.window;
}

ContainerBook::Group& ContainerBook::group_of(Container& container, bool is_worker) {
  std::optional<Group>& group = is_worker ? container.workers : container.main;
  if (!group) group.emplace();
  return *group;
}

/// The runtime itself, or an unknown one where the container has had too many.
ProcessInfo ContainerBook::admit(Container& container, const ProcessInfo& runtime) {
  auto& known = container.known_runtimes;
  if (known.contains(runtime)) return runtime;
  if (known.size() < max_runtimes) return *known.insert(runtime).first;
  ++limited_runtimes_;
  return {};
}

void ContainerBook::note_live_processes(std::span<const LiveProcess> processes) {
  for (auto& [identity, container] : containers_) container.runtimes.clear();
  for (const LiveProcess& process : processes) {
    Container& container = containers_[process.identity];
    container.runtimes.insert(admit(container, process.info));
  }
}

ContainerBook::TrackedLoop& ContainerBook::track(const LoopId& id, Containers::iterator container) {
  const auto found = loops_.find(id);
  if (found != loops_.end()) return found->second;
  LoopWindow window(id.observed_since_ns, window_ns_);
  return loops_.emplace(id, TrackedLoop{.window = std::move(window), .container = container})
      .first->second;
}

void ContainerBook::observe(const ObservedLoop& loop, uint64_t now_ns) {
  const LoopSnapshot& snapshot = *loop.snapshot;
  const auto container = containers_.try_emplace(*loop.identity).first;
  TrackedLoop& tracked = track(snapshot.id, container);
  tracked.container = container;
  tracked.is_worker = snapshot.is_worker;
  tracked.door = snapshot.door;
  tracked.seen_at_ns = now_ns;

  GroupTotals& totals = group_of(container->second, snapshot.is_worker).totals;
  totals.add(tracked.window.advance(snapshot));
  if (!snapshot.ended) return;
  if (const LoopDelta* last = tracked.window.finish()) totals.add(*last);
}

void ContainerBook::finish_unseen_loops(uint64_t now_ns) {
  for (auto& [id, loop] : loops_) {
    if (loop.seen_at_ns == now_ns) continue;
    if (const LoopDelta* last = loop.window.finish()) {
      group_of(loop.container->second, loop.is_worker).totals.add(*last);
    }
    loop.window.expire(now_ns);
  }
}

void ContainerBook::forget_what_is_gone() {
  std::erase_if(loops_, [](const auto& entry) {
    const TrackedLoop& loop = entry.second;
    return loop.window.empty() || loop.container->second.runtimes.empty();
  });
  std::erase_if(containers_, [](const auto& entry) { return entry.second.runtimes.empty(); });
}

LoopGroupMetrics ContainerBook::group_metrics(Group& group, uint64_t now_ns) {
  LoopGroupMetrics metrics;
  std::vector<uint64_t> in_progress_ns;
  for (const LoopWindow* window : group.windows) {
    if (!window->ended()) ++metrics.loops;
    if (window->stall_ns() != 0) in_progress_ns.push_back(window->stall_ns());
  }
  if (!in_progress_ns.empty()) metrics.stall_seconds = seconds(std::ranges::max(in_progress_ns));
  metrics.window = window_figures(group.windows, now_ns);
  metrics.cumulative = group.totals.figures(in_progress_ns);
  metrics.loops_by_door = std::exchange(group.loops_by_door, {});
  group.windows.clear();
  return metrics;
}

std::vector<ContainerMetrics> ContainerBook::collect(uint64_t now_ns) {
  for (const auto& [id, loop] : loops_) {
    Group& group = group_of(loop.container->second, loop.is_worker);
    group.windows.push_back(&loop.window);
    if (!loop.window.ended()) ++group.loops_by_door[loop.door];
  }
  std::vector<ContainerMetrics> all;
  for (auto& [identity, container] : containers_) {
    if (!container.main && !container.workers) continue;  // nothing was observed there yet
    ContainerMetrics metrics;
    metrics.identity = identity;
    metrics.runtimes = container.runtimes;
    if (container.main) metrics.main = group_metrics(*container.main, now_ns);
    if (container.workers) metrics.workers = group_metrics(*container.workers, now_ns);
    all.push_back(std::move(metrics));
  }
  return all;
}

}  // namespace uvtap
