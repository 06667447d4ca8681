// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/loop_shares.h"

#include <bpf/bpf.h>
#include <linux/types.h>

#include <cerrno>

namespace uvtap {
namespace {

/// 0 where the owner is not known any more.
uint32_t look_up(int map, uint32_t owner) {
  uint32_t slots = 0;
  return bpf_map_lookup_elem(map, &owner, &slots) == 0 ? slots : 0;
}

}  // namespace

Result<uint32_t> LoopShares::join(const std::string& container) {
  const auto known = owner_of_container_.find(container);
  if (container.empty() || known == owner_of_container_.end()) return make_owner(container);
  uint32_t& processes = owners_.at(known->second).processes;
  if (processes >= programs_->max_loops_per_owner())
    return fail("container {} has {} observed processes, its share: --max-loops-per-container",
                container, processes);
  ++processes;
  return known->second;
}

Result<uint32_t> LoopShares::make_owner(const std::string& container) {
  const uint32_t owner = last_owner_ + 1;
  constexpr uint32_t none = 0;
  for (const int map : {programs_->taken_slots_fd(), programs_->returned_slots_fd()})
    if (bpf_map_update_elem(map, &owner, &none, BPF_ANY) != 0)
      return fail_errno(errno, "no place for one more container or process; raise --max-loops");
  last_owner_ = owner;
  owners_[owner] = {.container = container, .processes = 1};
  if (!container.empty()) owner_of_container_[container] = owner;
  return owner;
}

void LoopShares::leave(uint32_t owner) {
  const auto found = owners_.find(owner);
  if (found == owners_.end() || --found->second.processes > 0) return;
  bpf_map_delete_elem(programs_->taken_slots_fd(), &owner);
  bpf_map_delete_elem(programs_->returned_slots_fd(), &owner);
  owner_of_container_.erase(found->second.container);
  owners_.erase(found);
}

Result<void> LoopShares::take(uint32_t owner) const {
  if (owner == 0) return {};
  const uint32_t slots = slots_of(owner);
  if (slots >= programs_->max_loops_per_owner())
    return fail("its container has {} loops, its share: --max-loops-per-container", slots);
  add_returned(owner, static_cast<uint32_t>(-1));
  return {};
}

void LoopShares::give_back(uint32_t owner) const {
  if (owner != 0) add_returned(owner, 1);
}

/// Counters that wrap around: what was taken by take() counts as returned before it was taken.
void LoopShares::add_returned(uint32_t owner, uint32_t slots) const {
  const int map = programs_->returned_slots_fd();
  const uint32_t returned = look_up(map, owner) + slots;
  bpf_map_update_elem(map, &owner, &returned, BPF_EXIST);
}

uint32_t LoopShares::slots_of(uint32_t owner) const {
  return look_up(programs_->taken_slots_fd(), owner) -
         look_up(programs_->returned_slots_fd(), owner);
}

std::vector<std::string> LoopShares::full() const {
  std::vector<std::string> found;
  for (const auto& [owner, about] : owners_)
    if (slots_of(owner) >= programs_->max_loops_per_owner()) found.push_back(about.container);
  return found;
}

}  // namespace uvtap
