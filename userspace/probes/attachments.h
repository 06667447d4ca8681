// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "userspace/discovery/bounded_looks.h"
#include "userspace/probes/bpf_programs.h"
#include "userspace/probes/front_door.h"
#include "userspace/symbols/probe_plan.h"

namespace uvtap {

/// The probes that are attached, each once however many processes need it, and gone with the last
/// of them. uv_run and uv__io_poll are probed per inode, in all processes that map the file;
/// epoll_wait per process, because every other program of the machine maps libc too. While a
/// process of a file is spared, uv__io_poll is probed per process there as well.
class Attachments {
 public:
  Attachments(const BpfPrograms& programs, BoundedLooks& looks)
      : programs_(&programs), looks_(&looks) {}

  /// Attaches what the plan needs and is not attached yet. On failure nothing is kept of what this
  /// call attached; it may be called again.
  Result<void> attach(pid_t pid, const ProbePlan& plan);
  /// The process is gone, or no longer observed.
  void detach(pid_t pid);

  /// Leaves a process without a probe, though it stays observed. A probe that it shares is replaced
  /// by one for each other process that uses it, so that none misses a turn; for as long as both
  /// are there, some milliseconds, turns of those may count twice. On failure all is as before.
  Result<void> spare(pid_t pid, const ProbePlan& plan);
  /// Attaches what the plan of a spared process needs.
  Result<void> restore(pid_t pid, const ProbePlan& plan);

  /// Different files with at least one probe.
  [[nodiscard]] size_t binaries() const;

 private:
  /// pid is 0 for a probe in all processes.
  struct ProbeKey {
    InodeId inode;
    uint64_t file_offset = 0;
    pid_t pid = 0;
    auto operator<=>(const ProbeKey&) const = default;
  };
  struct Probe {
    Link link;
    std::set<pid_t> users;
  };
  struct Wanted {
    ProbeKey key;
    bpf_program* program;
    std::string path;
    bool is_needed;
  };
  [[nodiscard]] std::vector<Wanted> wanted(pid_t pid, const ProbePlan& plan) const;
  [[nodiscard]] Result<Link> link_to(pid_t user, const Wanted& wanted);
  Result<void> attach_one(pid_t user, const Wanted& wanted);
  Result<void> replace_shared(const ProbeTarget& target, pid_t spared);
  void take_over_own_probes(const ProbeKey& shared);
  Result<void> use_tracepoints(pid_t pid);
  void stop_sparing(pid_t pid);
  void remove_user(pid_t pid);

  const BpfPrograms* programs_;
  BoundedLooks* looks_;
  std::map<ProbeKey, Probe> probes_;
  /// Who must not be hit by a shared probe on this file's uv__io_poll.
  std::map<InodeId, std::set<pid_t>> spared_;
  std::vector<Link> tracepoint_links_;
  std::set<pid_t> tracepoint_users_;
};

}  // namespace uvtap
