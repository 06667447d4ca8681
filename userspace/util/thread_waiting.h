// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "userspace/util/unique_fd.h"

namespace uvtap {

/// How long a thread of this process has been waiting for something else than a CPU, by the
/// scheduler's account: on a busy machine the clock alone would take slow for stuck.
class ThreadWaiting {
 public:
  explicit ThreadWaiting(pid_t tid);

  /// Only differences mean something. Right while the thread runs (to a few milliseconds) or waits;
  /// while it is queued for a CPU, that time counts too. Where the kernel keeps no such account,
  /// all time does.
  [[nodiscard]] uint64_t waited_ns() const;
  /// Since the moment when waited_ns() said `before_ns`.
  [[nodiscard]] uint64_t waited_since(uint64_t before_ns) const;
  /// Whether it neither runs nor is queued for a CPU.
  [[nodiscard]] bool waits_now() const;

 private:
  UniqueFd schedstat_;
  UniqueFd stat_;
};

}  // namespace uvtap
