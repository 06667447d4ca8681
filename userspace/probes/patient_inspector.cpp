// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/patient_inspector.h"

namespace uvtap {

std::expected<Result<PlanOutcome>, NoLook> PatientInspector::inspect(pid_t pid) {
  if (!inspector_) inspector_ = std::make_shared<ProcessInspector>(proc_, mapped_files_, doors_);
  auto looked = looks_->look(pid, "its files",
                             [pid, inspector = inspector_] { return inspector->inspect(pid); });
  // The one that hangs keeps it, and all the files that it remembers.
  if (!looked && looked.error() == NoLook::hung) inspector_.reset();
  return looked;
}

}  // namespace uvtap
