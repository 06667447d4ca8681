// SPDX-License-Identifier: Apache-2.0
#include "userspace/discovery/bounded_looks.h"

#include <fmt/core.h>

#include <algorithm>

namespace uvtap {
namespace {

constexpr uint64_t second_ns = 1'000'000'000;

bool hangs_now(const Hang& hang) { return !hang.is_over(); }

}  // namespace

bool BoundedLooks::answers(pid_t pid) {
  if (owners_.empty()) return true;  // as always but under attack
  forget_the_innocent();
  if (too_many_hang()) return false;
  const auto owner = owners_.find(owner_of_(pid));
  if (owner == owners_.end()) return true;
  return std::ranges::none_of(owner->second.hangs, hangs_now);
}

bool BoundedLooks::may_look(pid_t pid) {
  if (!answers(pid)) return false;
  const auto owner = owners_.empty() ? owners_.end() : owners_.find(owner_of_(pid));
  return owner == owners_.end() || owner->second.waited_ns < allowance_ns;
}

bool BoundedLooks::too_many_hang() {
  const uint64_t now_ns = now_ns_();
  if (hanging() >= max_hanging) {
    log_.warn("max_hanging", now_ns,
              fmt::format("{} looks into processes hang: no further process is looked into",
                          max_hanging));
    return true;
  }
  return new_hangs_ >= max_new_hangs && now_ns - second_begin_ns_ < second_ns;
}

size_t BoundedLooks::hanging() const {
  size_t count = 0;
  for (const auto& [name, owner] : owners_)
    count += static_cast<size_t>(std::ranges::count_if(owner.hangs, hangs_now));
  return count;
}

void BoundedLooks::forget_the_innocent() {
  const uint64_t now_ns = now_ns_();
  std::erase_if(owners_, [&](const auto& entry) {
    return now_ns - entry.second.period_begin_ns >= period_ns &&
           std::ranges::none_of(entry.second.hangs, hangs_now);
  });
}

BoundedLooks::Owner& BoundedLooks::owner_at(pid_t pid) {
  const uint64_t now_ns = now_ns_();
  Owner& owner = owners_[owner_of_(pid)];
  if (now_ns - owner.period_begin_ns >= period_ns) {
    owner.period_begin_ns = now_ns;
    owner.waited_ns = 0;
  }
  std::erase_if(owner.hangs, [](const Hang& hang) { return hang.is_over(); });
  return owner;
}

void BoundedLooks::note_time(pid_t pid, uint64_t waited_ns) {
  if (waited_ns >= slow_look_ns) owner_at(pid).waited_ns += waited_ns;
}

void BoundedLooks::note_hang(pid_t pid, const char* what, const Hang& hang) {
  owner_at(pid).hangs.push_back(hang);
  if (now_ns_() - second_begin_ns_ >= second_ns) {
    second_begin_ns_ = now_ns_();
    new_hangs_ = 0;
  }
  ++new_hangs_;
  ++given_up_;
  const std::string owner = owner_of_(pid);
  log_.warn(
      owner, now_ns_(),
      fmt::format("pid {}: no answer from {}; until there is one, nothing of {} is looked into",
                  pid, what, owner));
}

}  // namespace uvtap
