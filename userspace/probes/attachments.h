// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "userspace/probes/bpf_programs.h"
#include "userspace/probes/front_door.h"
#include "userspace/symbols/probe_plan.h"

namespace uvtap {

/// The probes that are attached, each once however many processes need it, and gone with the last
/// of them. uv_run and uv__io_poll are probed per inode, in all processes that map the file;
/// epoll_wait per process, because every other program of the machine maps libc too.
class Attachments {
 public:
  explicit Attachments(const BpfPrograms& programs) : programs_(&programs) {}

  /// Attaches what the plan needs and is not attached yet. On failure nothing is kept of what this
  /// call attached; it may be called again.
  Result<void> attach(pid_t pid, const ProbePlan& plan);
  /// The process is gone, or no longer observed.
  void detach(pid_t pid);

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
  [[nodiscard]] Result<Link> link_to(const Wanted& wanted) const;
  Result<void> attach_one(pid_t user, const Wanted& wanted);
  Result<void> use_tracepoints(pid_t pid);

  const BpfPrograms* programs_;
  std::map<ProbeKey, Probe> probes_;
  std::vector<Link> tracepoint_links_;
  std::set<pid_t> tracepoint_users_;
};

}  // namespace uvtap
