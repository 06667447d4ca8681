// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/types.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "bpf/loop_contract.h"
#include "userspace/util/result.h"

struct bpf_link;
struct bpf_map;
struct bpf_program;
struct uvtap_bpf;

namespace uvtap {

struct BpfSettings {
  uint32_t max_loops = 512;
  uint64_t delay_resolution_ms = 20;
};

struct LinkDeleter {
  void operator()(bpf_link* link) const;
};
/// One attached program; detached when it goes.
using Link = std::unique_ptr<bpf_link, LinkDeleter>;

/// The programs in the kernel and their maps. Nothing is attached to an application by loading;
/// start_lifecycle() attaches to the kernel's own exec, fork, exit and signal tracepoints.
class BpfPrograms {
 public:
  /// Fails with one line that names what this kernel or this process lacks.
  static Result<BpfPrograms> load(const BpfSettings& settings);
  BpfPrograms(BpfPrograms&&) noexcept;
  ~BpfPrograms();

  Result<void> start_lifecycle();

  [[nodiscard]] bpf_program* io_poll() const;
  [[nodiscard]] bpf_program* uv_run() const;
  [[nodiscard]] bpf_program* epoll_wait() const;
  [[nodiscard]] bpf_program* sys_enter_epoll() const;

  /// What BPF knows of a process it observes; replaces what it knew.
  Result<void> observe(pid_t pid, const observed_process& process);
  void forget(pid_t pid);

  /// The files this process maps executable, with the inodes below any overlay. None for a process
  /// that is gone.
  [[nodiscard]] Result<std::vector<mapped_file>> mapped_files(pid_t pid) const;

  [[nodiscard]] int slots_fd() const;
  [[nodiscard]] int slot_of_thread_fd() const;
  [[nodiscard]] int free_slots_fd() const;
  [[nodiscard]] int lifecycle_events_fd() const;
  [[nodiscard]] uint32_t max_loops() const { return settings_.max_loops; }
  [[nodiscard]] uint64_t delay_resolution_ms() const { return settings_.delay_resolution_ms; }

  using LostCounts = std::array<uint64_t, LOST_REASON_COUNT>;
  using IgnoredCounts = std::array<uint64_t, IGNORED_COUNTERS>;
  [[nodiscard]] LostCounts lost() const;
  [[nodiscard]] IgnoredCounts ignored() const;

 private:
  struct SkeletonDeleter {
    void operator()(uvtap_bpf* skeleton) const;
  };
  using Skeleton = std::unique_ptr<uvtap_bpf, SkeletonDeleter>;
  BpfPrograms(Skeleton skeleton, const BpfSettings& settings);

  Skeleton skeleton_;
  BpfSettings settings_;
  std::vector<Link> lifecycle_links_;
};

}  // namespace uvtap
