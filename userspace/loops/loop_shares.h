// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "userspace/probes/bpf_programs.h"
#include "userspace/util/result.h"

namespace uvtap {

/// No container takes the places of all others: how many loops each may have observed at a time,
/// and how many processes. BPF keeps to it at the moment when it takes a slot; this keeps the
/// accounts. An owner is a container, or a process that is in none; its number is never used again.
class LoopShares {
 public:
  /// `programs` outlives it.
  explicit LoopShares(const BpfPrograms& programs) : programs_(&programs) {}

  /// A process of this container (empty: of none) is about to be observed. Fails if the container
  /// has as many processes as it may have loops.
  Result<uint32_t> join(const std::string& container);
  /// The process is gone. What slots of it are still taken counts no more.
  void leave(uint32_t owner);

  /// Of a loop that BPF did not find itself. Fails if the owner has its share already.
  Result<void> take(uint32_t owner) const;
  void give_back(uint32_t owner) const;

  /// Containers that have as many loops now as they may have; "" for a process in none.
  [[nodiscard]] std::vector<std::string> full() const;

 private:
  struct Owner {
    std::string container;
    uint32_t processes = 0;
  };
  Result<uint32_t> make_owner(const std::string& container);
  [[nodiscard]] uint32_t slots_of(uint32_t owner) const;
  void add_returned(uint32_t owner, uint32_t slots) const;

  const BpfPrograms* programs_;
  std::map<uint32_t, Owner> owners_;
  std::map<std::string, uint32_t> owner_of_container_;
  uint32_t last_owner_ = 0;
};

}  // namespace uvtap
