// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <expected>
#include <memory>
#include <utility>

#include "userspace/discovery/bounded_looks.h"
#include "userspace/probes/process_inspector.h"

namespace uvtap {

/// A ProcessInspector that a process cannot hold up: see BoundedLooks.
class PatientInspector {
 public:
  PatientInspector(ProcFs proc, std::shared_ptr<const MappedFiles> mapped_files,
                   DoorPreference doors, BoundedLooks& looks)
      : proc_(std::move(proc)),
        mapped_files_(std::move(mapped_files)),
        doors_(std::move(doors)),
        looks_(&looks) {}

  [[nodiscard]] std::expected<Result<PlanOutcome>, NoLook> inspect(pid_t pid);

 private:
  ProcFs proc_;
  std::shared_ptr<const MappedFiles> mapped_files_;
  DoorPreference doors_;
  BoundedLooks* looks_;
  std::shared_ptr<ProcessInspector> inspector_;  ///< shared with a thread that may hang in it
};

}  // namespace uvtap
