// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/link.h"

#include <bpf/libbpf.h>

namespace uvtap {

void Link::Destroy::operator()(bpf_link* link) const { bpf_link__destroy(link); }

int Link::fd() const { return of_libbpf_ ? bpf_link__fd(of_libbpf_.get()) : of_kernel_.get(); }

}  // namespace uvtap
