// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "userspace/discovery/bounded_looks.h"
#include "userspace/discovery/process_tracker.h"
#include "userspace/identity/cgroup_path.h"
#include "userspace/loops/loop_table.h"
#include "userspace/loops/memory_door.h"
#include "userspace/metrics/container_metrics.h"
#include "userspace/probes/attachments.h"
#include "userspace/probes/patient_inspector.h"
#include "userspace/util/log.h"

namespace uvtap {

/// A process whose loops are being watched.
struct ObservedProcess {
  ProcessId id;
  ProbePlan plan;
  std::string name;  ///< of the script or the executable
  ProcessInfo info;
  CgroupContainer container;
  bool is_spared = false;  ///< its probe would cost it too much: its memory is read instead
  uint32_t owner = 0;      ///< see LoopShares
};

/// The Node.js processes there are: which are observed, and which cannot be and why.
class ObservedProcesses {
 public:
  ObservedProcesses(const ProcFs& proc, BpfPrograms& programs, LoopTable& table,
                    MemoryDoor& memory_door, BoundedLooks& looks, DoorPreference doors);

  /// Looks at a new process; what turns out to be Node.js is observed from here on.
  void appear(const ProcessId& id, uint64_t now_ns);
  void leave(const ProcessId& id);
  /// Looks once more at processes that were not ready at the first look: still loading their
  /// libraries, or refusing a probe.
  void look_again(uint64_t now_ns);
  /// Reads the cgroup of each observed process: one may be moved while it runs.
  void read_cgroups();

  /// Watches an observed process without a probe from here on; its loops' totals go on.
  Result<void> spare(pid_t pid);
  /// Watches a spared process through its own front door again.
  Result<void> restore(pid_t pid);

  [[nodiscard]] const std::map<pid_t, ObservedProcess>& observed() const { return observed_; }
  [[nodiscard]] const std::map<pid_t, Unsupported>& unsupported() const { return unsupported_; }
  [[nodiscard]] const std::map<std::string, uint64_t>& failures() const { return failures_; }
  /// How often a process was passed over because its container has its share of them.
  [[nodiscard]] uint64_t over_share() const { return over_share_; }
  [[nodiscard]] size_t attached_binaries() const { return attachments_.binaries(); }
  /// Node processes that are to be looked at again because a probe could not be attached.
  [[nodiscard]] bool any_attach_pending() const { return !refused_.empty(); }

 private:
  struct SecondLook {
    uint64_t due_ns = 0;
    uint64_t interval_ns = 0;
  };
  void look(const ProcessId& id, uint64_t now_ns);
  [[nodiscard]] bool is_settled(pid_t pid) const;
  [[nodiscard]] bool has_ended(pid_t pid) const;
  void read_version(ObservedProcess& process);
  void read_name(ObservedProcess& process);
  [[nodiscard]] CgroupContainer container_of(pid_t pid) const;
  void move_to(ObservedProcess& process, const CgroupContainer& container);
  /// What BPF knows of an observed process.
  Result<void> tell_bpf(const ObservedProcess& process);
  void pass_over(const ProcessId& id, const Error& error, uint64_t now_ns);
  void observe(const ProcessId& id, const ProbePlan& plan, uint64_t now_ns);
  Result<void> start_observing(pid_t pid, const ProbePlan& plan, uint32_t owner);
  void find_running_loops(const ObservedProcess& process, uint64_t now_ns);
  void tell_why_not(pid_t pid, uint64_t now_ns);
  void fail_to(const std::string& what, const ProcessId& id, const Error& error, uint64_t now_ns);

  const ProcFs* proc_;
  BpfPrograms* programs_;
  LoopTable* table_;
  MemoryDoor* memory_door_;
  BoundedLooks* looks_;
  PatientInspector inspector_;
  Attachments attachments_;
  LogLimiter log_;
  std::map<pid_t, ObservedProcess> observed_;
  std::map<pid_t, Unsupported> unsupported_;
  std::map<ProcessId, SecondLook> second_looks_;
  std::set<ProcessId> refused_;
  std::set<ProcessId> not_looked_into_;
  std::map<std::string, uint64_t> failures_;
  uint64_t over_share_ = 0;
};

}  // namespace uvtap
