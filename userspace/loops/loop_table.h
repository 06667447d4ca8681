// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/types.h>
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/loop_contract.h"
#include "userspace/loops/loop_shares.h"
#include "userspace/probes/bpf_programs.h"
#include "userspace/util/result.h"

namespace uvtap {

/// The loops that BPF writes, seen through one shared mapping: reading them is no system call.
/// Also hands out the free slots and takes them back.
class LoopTable {
 public:
  /// Maps the slots and declares all of them free. `programs` must outlive the table.
  static Result<LoopTable> map(const BpfPrograms& programs);
  LoopTable(LoopTable&&) noexcept;
  LoopTable& operator=(LoopTable&&) = delete;
  ~LoopTable();

  struct Entry {
    pid_t tid = 0;
    uint32_t index = 0;
  };
  /// Every thread that has a loop.
  [[nodiscard]] std::vector<Entry> entries() const;

  /// What a look at this loop is to be made for.
  struct Mark {
    uint32_t sequence = 0;  ///< of a slot that is copied later: has the loop turned since?
    uint32_t tgid = 0;
    uint32_t tid = 0;
    uint64_t loop_address = 0;
    bool has_ended = false;
  };
  [[nodiscard]] Mark mark(Entry entry) const;

  /// Copies a slot. Its first part (all but the histograms) is of one moment; a histogram may be a
  /// turn ahead of it.
  void read(uint32_t index, loop_slot& into) const;
  /// Puts a loop that was found in memory under observation, unless BPF has been quicker. `seed`
  /// carries what a first look yields. Fails if its owner's share or all slots are taken.
  Result<void> add(const loop_slot& seed);
  /// Forgets a loop and frees its slot.
  void remove(Entry entry);
  /// Forgets all loops of a process.
  void remove_process(pid_t pid);
  /// From now on only hits of this door count for the loops of a process.
  void set_door(pid_t pid, front_door door);
  /// Forgets all loops of a process and hands them on, as they are now.
  [[nodiscard]] std::vector<loop_slot> take_process(pid_t pid);

  /// Who may take how many of the slots.
  [[nodiscard]] LoopShares& shares() { return shares_; }

 private:
  LoopTable(const BpfPrograms& programs, loop_slot* slots, size_t mapped_bytes);
  [[nodiscard]] std::vector<Entry> entries_of(pid_t pid) const;
  [[nodiscard]] Result<uint32_t> take_free_slot();
  void free_slot(uint32_t index);

  const BpfPrograms* programs_;
  loop_slot* slots_;
  size_t mapped_bytes_;
  LoopShares shares_;
};

}  // namespace uvtap
