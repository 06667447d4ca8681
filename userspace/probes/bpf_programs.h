// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/types.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bpf/loop_contract.h"
#include "userspace/probes/link.h"
#include "userspace/probes/mapped_files.h"
#include "userspace/util/result.h"

struct bpf_map;
struct bpf_program;
struct uvtap_bpf;

namespace uvtap {

/// How uprobes are attached. uprobe_multi needs less privilege; perf events work on every kernel.
/// It is settled when the programs are loaded, for all of them.
enum class UprobeWay { perf_event, uprobe_multi };
/// "perf events" or "uprobe_multi links".
[[nodiscard]] std::string_view to_string(UprobeWay way);

struct BpfSettings {
  uint32_t max_loops = 512;
  uint32_t max_loops_per_owner = 128;  ///< see observed_process::owner
  uint64_t delay_resolution_ms = 20;
  std::optional<UprobeWay> uprobe_way = {};  ///< none: uprobe_multi where this kernel has it
};

/// The programs in the kernel and their maps. Nothing is attached to an application by loading;
/// start_lifecycle() attaches to the kernel's own exec, fork, exit and signal tracepoints.
class BpfPrograms {
 public:
  /// Fails with one line that names what this kernel or this process lacks.
  static Result<BpfPrograms> load(const BpfSettings& wanted);
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

  /// Shared, because a thread that asks may hang and outlive everything else.
  [[nodiscard]] const std::shared_ptr<const MappedFiles>& mapped_files() const {
    return mapped_files_;
  }

  [[nodiscard]] int slots_fd() const;
  [[nodiscard]] int slot_of_thread_fd() const;
  [[nodiscard]] int free_slots_fd() const;
  [[nodiscard]] int taken_slots_fd() const;
  [[nodiscard]] int returned_slots_fd() const;
  [[nodiscard]] int lifecycle_events_fd() const;
  [[nodiscard]] UprobeWay uprobe_way() const { return *settings_.uprobe_way; }
  [[nodiscard]] uint32_t max_loops() const { return settings_.max_loops; }
  [[nodiscard]] uint32_t max_loops_per_owner() const { return settings_.max_loops_per_owner; }
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
  BpfPrograms(Skeleton skeleton, const BpfSettings& settings,
              std::shared_ptr<const MappedFiles> mapped_files);

  Skeleton skeleton_;
  BpfSettings settings_;
  std::shared_ptr<const MappedFiles> mapped_files_;
  std::vector<Link> lifecycle_links_;
};

}  // namespace uvtap
