// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "userspace/agent.h"
#include "userspace/util/result.h"
#include "userspace/util/unique_fd.h"

namespace uvtap {

/// Runs an agent on the calling thread: a tick each second, new processes as they come, until
/// SIGTERM, SIGINT or a hang-up. Create it before
/// any other thread, since it blocks these signals.
class AgentLoop {
 public:
  /// Whether there is one more tick when a new loop has had its first second, so that its first
  /// figures do not wait for the next.
  enum class Ticks { each_second, also_for_new_loops };
  static Result<AgentLoop> create(Ticks ticks);

  enum class After { go_on, stop };
  /// Called after each tick.
  using OnTick = std::function<After(std::vector<ContainerMetrics>)>;

  /// Called, once run() runs, whenever the descriptor can be read.
  using OnReadable = std::function<After()>;
  Result<void> when_readable(int fd, OnReadable on_readable);

  /// Returns after a signal, or when `on_tick` says so.
  Result<void> run(Agent& agent, const OnTick& on_tick);

 private:
  explicit AgentLoop(Ticks ticks) : ticks_(ticks) {}
  /// New processes are looked at together, a little after the first of them: by then they have
  /// mapped their libraries, and the short-lived ones are gone.
  void arm_look();
  After tick(Agent& agent, const OnTick& on_tick);
  void arm_early_tick(const Agent& agent);

  Ticks ticks_;
  UniqueFd epoll_;
  UniqueFd tick_timer_;
  UniqueFd early_timer_;
  UniqueFd look_timer_;
  UniqueFd signals_;
  std::map<int, OnReadable> others_;
  bool look_armed_ = false;
};

}  // namespace uvtap
