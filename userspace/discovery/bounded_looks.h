// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "userspace/util/log.h"
#include "userspace/util/monotonic_clock.h"
#include "userspace/util/patient_thread.h"

namespace uvtap {

/// Why a process was not looked into.
enum class NoLook {
  hung,        ///< this look was given up
  passed_over  ///< not begun: an earlier one hangs, or took too much time
};

/// Looks into processes, of which the kernel may hold up any for ever: a container can map files
/// that never answer, and keep the lock of its memory. So a look that does not end soon is given
/// up, and nothing of the same owner (its container) is looked into while it hangs. One owner has
/// at most a thread or two of ours, and half a second of our time in ten.
///
/// To be used by one thread.
class BoundedLooks {
 public:
  /// A look that waits in the kernel for longer is given up.
  static constexpr std::chrono::milliseconds look_limit{250};
  /// Looks that hang at a time, of all owners; beyond that there are no looks at all.
  static constexpr size_t max_hanging = 64;
  /// Hangs that one second may begin with; what is due then is put off.
  static constexpr size_t max_new_hangs = 2;
  /// Looks that waited for less do not count as time that an owner took.
  static constexpr uint64_t slow_look_ns = 20'000'000;
  static constexpr uint64_t allowance_ns = 500'000'000;  ///< for one owner, in `period_ns`
  static constexpr uint64_t period_ns = 10'000'000'000;

  /// Names whom a process belongs to. Must not block.
  using OwnerOf = std::function<std::string(pid_t)>;
  using Clock = std::function<uint64_t()>;
  explicit BoundedLooks(OwnerOf owner_of, Clock now_ns = monotonic_now_ns)
      : owner_of_(std::move(owner_of)), now_ns_(std::move(now_ns)) {}

  /// Returns what `function` returns. `what`: whose answer is awaited, such as "its memory". The
  /// function owns or shares what it uses: see PatientThread.
  template <typename Function>
  [[nodiscard]] std::expected<std::invoke_result_t<Function>, NoLook> look(pid_t pid,
                                                                           const char* what,
                                                                           Function function) {
    if (!may_look(pid)) return std::unexpected(NoLook::passed_over);
    auto value = thread_.call(std::move(function), look_limit);
    note_time(pid, thread_.last_waited_ns());
    if (value) return std::move(*value);
    note_hang(pid, what, value.error());
    return std::unexpected(NoLook::hung);
  }

  /// For those who look with a thread of their own, and bound the time that it waits: ask first
  /// whether nothing of this owner hangs, and tell what does.
  [[nodiscard]] bool answers(pid_t pid);
  void note_hang(pid_t pid, const char* what, const Hang& hang);

  /// Looks that were given up since the start.
  [[nodiscard]] uint64_t given_up() const { return given_up_; }
  /// Looks that hang now.
  [[nodiscard]] size_t hanging() const;

 private:
  [[nodiscard]] bool may_look(pid_t pid);
  void note_time(pid_t pid, uint64_t waited_ns);

  struct Owner {
    std::vector<Hang> hangs;
    uint64_t period_begin_ns = 0;
    uint64_t waited_ns = 0;  ///< for it, in this period
  };
  Owner& owner_at(pid_t pid);
  void forget_the_innocent();
  [[nodiscard]] bool too_many_hang();

  OwnerOf owner_of_;
  Clock now_ns_;
  PatientThread thread_{"look"};
  std::map<std::string, Owner> owners_;  ///< only those that keep us waiting
  uint64_t second_begin_ns_ = 0;
  size_t new_hangs_ = 0;  ///< since then
  uint64_t given_up_ = 0;
  LogLimiter log_;
};

}  // namespace uvtap
