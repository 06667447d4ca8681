// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "userspace/util/result.h"

struct uvtap_bpf;

namespace uvtap {

// libbpf replaces bpf_probe_read_user by the older bpf_probe_read where it takes the kernel to be
// older than 5.5. It finds out by asking for bpf_probe_read_kernel, which a kernel in lockdown
// (confidentiality) refuses, together with bpf_probe_read. bpf_probe_read_user it allows.

/// Makes libbpf leave the calls alone in all skeletons that are opened later. Once is enough.
[[nodiscard]] Result<void> keep_bpf_probe_read_user();
/// Finds their tracepoints in the kernel's BTF, as libbpf does itself for the other programs. To be
/// called between opening and loading. 0, or a negative errno.
[[nodiscard]] int find_tracepoints(uvtap_bpf& skeleton);

}  // namespace uvtap
