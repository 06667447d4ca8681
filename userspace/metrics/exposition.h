// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "userspace/metrics/container_metrics.h"
#include "userspace/metrics/family.h"
#include "userspace/metrics/own_process.h"
#include "userspace/metrics/self_metrics.h"

namespace uvtap {

// The names, types and help texts of everything exposed. A series without a value yet is left out,
// never shown as zero.

/// nodejs_*: one series per container.
void add_container_families(Families& families, std::span<const ContainerMetrics> containers);
/// uvtap_*
void add_self_families(Families& families, const SelfMetrics& self);
/// process_*
void add_process_families(Families& families, const OwnProcess& process);

}  // namespace uvtap
