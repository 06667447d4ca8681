// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/agent_loop.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "userspace/util/monotonic_clock.h"

namespace uvtap {
namespace {

/// On the whole seconds of CLOCK_MONOTONIC, so that two observers of one machine share their
/// windows.
itimerspec each_second() {
  const auto now_s = static_cast<time_t>(monotonic_now_ns() / 1'000'000'000);
  return {.it_interval = {1, 0}, .it_value = {now_s + 1, 0}};
}

/// The moment of an early tick: the next fifth of a second. So there are at most four of them
/// between two ticks, however many loops are born.
itimerspec at_next_fifth(uint64_t at_ns) {
  constexpr uint64_t fifth_ns = 200'000'000;
  const uint64_t rounded_ns = (at_ns + fifth_ns - 1) / fifth_ns * fifth_ns;
  return {.it_interval = {0, 0},
          .it_value = {static_cast<time_t>(rounded_ns / 1'000'000'000),
                       static_cast<long>(rounded_ns % 1'000'000'000)}};
}
constexpr itimerspec soon{.it_interval = {0, 0}, .it_value = {0, 100'000'000}};

Result<UniqueFd> make_timer() {
  UniqueFd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer.valid()) return fail_errno(errno, "cannot create a timer");
  return timer;
}

/// As nohup leaves it.
bool is_ignored(int signal) {
  struct sigaction action{};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

Result<UniqueFd> catch_signals() {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGTERM);
  sigaddset(&mask, SIGINT);
  if (!is_ignored(SIGHUP)) sigaddset(&mask, SIGHUP);
  if (sigprocmask(SIG_BLOCK, &mask, nullptr) != 0) return fail_errno(errno, "cannot block signals");
  UniqueFd signals(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return fail_errno(errno, "cannot receive signals");
  return signals;
}

Result<void> watch(const UniqueFd& epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return fail_errno(errno, "cannot watch a descriptor");
  return {};
}

void drain(int timer) {
  uint64_t expirations = 0;
  while (read(timer, &expirations, sizeof(expirations)) > 0) continue;
}

}  // namespace

Result<AgentLoop> AgentLoop::create(Ticks ticks) {
  AgentLoop loop(ticks);
  loop.epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  if (!loop.epoll_.valid()) return fail_errno(errno, "cannot create an epoll descriptor");
  auto signals = catch_signals();
  auto tick_timer = make_timer();
  auto early_timer = make_timer();
  auto look_timer = make_timer();
  for (auto* made : {&signals, &tick_timer, &early_timer, &look_timer}) {
    if (!*made) return std::unexpected(made->error());
    if (auto watched = watch(loop.epoll_, (*made)->get()); !watched)
      return std::unexpected(watched.error());
  }
  loop.signals_ = std::move(*signals);
  loop.tick_timer_ = std::move(*tick_timer);
  loop.early_timer_ = std::move(*early_timer);
  loop.look_timer_ = std::move(*look_timer);
  return loop;
}

void AgentLoop::arm_look() {
  if (look_armed_) return;
  timerfd_settime(look_timer_.get(), 0, &soon, nullptr);
  look_armed_ = true;
}

AgentLoop::After AgentLoop::tick(Agent& agent, const OnTick& on_tick) {
  const After after = on_tick(agent.tick());
  if (ticks_ == Ticks::also_for_new_loops) arm_early_tick(agent);
  return after;
}

void AgentLoop::arm_early_tick(const Agent& agent) {
  const auto due_ns = agent.next_first_figures_ns();
  if (!due_ns) return;
  const itimerspec then = at_next_fifth(*due_ns);
  const bool is_ordinary_tick = then.it_value.tv_nsec == 0;
  if (!is_ordinary_tick) timerfd_settime(early_timer_.get(), TFD_TIMER_ABSTIME, &then, nullptr);
}

Result<void> AgentLoop::when_readable(int fd, OnReadable on_readable) {
  if (auto watched = watch(epoll_, fd); !watched) return watched;
  others_[fd] = std::move(on_readable);
  return {};
}

Result<void> AgentLoop::run(Agent& agent, const OnTick& on_tick) {
  if (auto watched = watch(epoll_, agent.lifecycle_fd()); !watched) return watched;
  const itimerspec ticks = each_second();
  timerfd_settime(tick_timer_.get(), TFD_TIMER_ABSTIME, &ticks, nullptr);
  if (tick(agent, on_tick) == After::stop) return {};
  for (;;) {
    std::array<epoll_event, 4> events{};
    const int ready = epoll_wait(epoll_.get(), events.data(), events.size(), -1);
    if (ready < 0 && errno != EINTR) return fail_errno(errno, "cannot wait for events");
    for (const auto& event : std::span(events).first(static_cast<size_t>(std::max(ready, 0)))) {
      const int fd = event.data.fd;
      if (fd == signals_.get()) return {};
      if (fd == agent.lifecycle_fd()) {
        agent.take_lifecycle_events();
        arm_look();
      } else if (fd == look_timer_.get()) {
        drain(fd);
        look_armed_ = false;
        agent.look_at_noted_processes();
      } else if (fd == tick_timer_.get() || fd == early_timer_.get()) {
        drain(fd);
        if (tick(agent, on_tick) == After::stop) return {};
      } else if (auto other = others_.find(fd); other != others_.end()) {
        if (other->second() == After::stop) return {};
      }
    }
  }
}

}  // namespace uvtap
