// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/watch_state.h"

#include <spdlog/spdlog.h>

#include "userspace/identity/pod_directory.h"
#include "userspace/util/monotonic_clock.h"
#include "userspace/util/printable.h"

namespace uvtap {
namespace {

constexpr size_t max_message_bytes = 300;

std::string_view name_of(KubeReason reason) {
  return kube_reason_names[static_cast<size_t>(reason)];
}

}  // namespace

void WatchState::listed(size_t pods) {
  const std::scoped_lock lock(mutex_);
  if (snapshot_.synced) return;
  snapshot_ = {.synced = true, .failing = false, .last_error = {}};
  has_outcome_.notify_all();
  failing_for_.reset();
  said_failing_ = false;
  spdlog::info("the API server has told of this node's pods: {}", pods);
}

void WatchState::works() {
  const std::scoped_lock lock(mutex_);
  if (!failing_for_) return;
  snapshot_.failing = false;
  failing_for_.reset();
  if (said_failing_) spdlog::info("the API server answers again");
  said_failing_ = false;
}

void WatchState::fails(const KubeFailure& failure) {
  const std::scoped_lock lock(mutex_);
  ++errors_.at(static_cast<size_t>(failure.reason));
  snapshot_.failing = true;
  has_outcome_.notify_all();
  snapshot_.last_error = printable(failure.message, max_message_bytes);
  if (failing_for_ != failure.reason) log_failure(failure.reason);
  failing_for_ = failure.reason;
}

/// A server that fails and works by turns has its line once a minute.
void WatchState::log_failure(KubeReason reason) {
  if (!limiter_.allow(name_of(reason), monotonic_now_ns())) return;
  said_failing_ = true;
  spdlog::warn("the API server cannot be asked for the names of pods: {}", snapshot_.last_error);
}

void WatchState::counts(KubeReason reason) {
  const std::scoped_lock lock(mutex_);
  ++errors_.at(static_cast<size_t>(reason));
}

void WatchState::has_too_many_pods() {
  const std::scoped_lock lock(mutex_);
  ++too_many_pods_;
  limiter_.warn("too_many_pods", monotonic_now_ns(),
                fmt::format("this node has more than {} pods: the others go by their container ids",
                            PodDirectory::max_pods));
}

void WatchState::await_outcome(std::chrono::milliseconds at_most) const {
  std::unique_lock lock(mutex_);
  has_outcome_.wait_for(lock, at_most, [&] { return snapshot_.synced || snapshot_.failing; });
}

WatchState::Snapshot WatchState::snapshot() const {
  const std::scoped_lock lock(mutex_);
  return snapshot_;
}

std::map<std::string, uint64_t> WatchState::errors() const {
  const std::scoped_lock lock(mutex_);
  std::map<std::string, uint64_t> errors;
  for (size_t reason = 0; reason < errors_.size(); ++reason)
    errors.emplace(kube_reason_names[reason], errors_[reason]);
  errors.emplace("too_many_pods", too_many_pods_);
  return errors;
}

}  // namespace uvtap
