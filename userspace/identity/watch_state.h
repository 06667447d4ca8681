// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "userspace/identity/kube_failure.h"
#include "userspace/util/log.h"

namespace uvtap {

/// How the watch is doing. The watching thread writes it; any thread may ask. Logs when the pods
/// are known for the first time, when the API server fails for another reason than before, and when
/// it works again; never each attempt.
class WatchState {
 public:
  struct Snapshot {
    bool synced = false;   ///< a list has succeeded once
    bool failing = false;  ///< the last attempt failed
    std::string last_error;
  };

  /// A list has been taken over.
  void listed(size_t pods);
  /// An answer came as it should.
  void works();
  void fails(const KubeFailure& failure);
  /// Counts what happens to healthy servers too, and the next attempt will most likely put right.
  void counts(KubeReason reason);
  /// The directory refuses pods.
  void has_too_many_pods();

  [[nodiscard]] Snapshot snapshot() const;
  /// Waits until there is a list or a failure.
  void await_outcome(std::chrono::milliseconds at_most) const;
  /// How often each reason, and "too_many_pods", has occurred; also those that have not.
  [[nodiscard]] std::map<std::string, uint64_t> errors() const;

 private:
  void log_failure(KubeReason reason);

  mutable std::mutex mutex_;
  mutable std::condition_variable has_outcome_;
  Snapshot snapshot_;
  std::optional<KubeReason> failing_for_;
  bool said_failing_ = false;
  LogLimiter limiter_;
  std::array<uint64_t, kube_reason_names.size()> errors_{};
  uint64_t too_many_pods_ = 0;
};

}  // namespace uvtap
