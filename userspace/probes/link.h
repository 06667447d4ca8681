// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "userspace/util/unique_fd.h"

struct bpf_link;

namespace uvtap {

/// One attached program; detached when it goes. Made by libbpf, or by the kernel directly where
/// libbpf has no call for it.
class Link {
 public:
  Link() = default;
  explicit Link(bpf_link* of_libbpf) : of_libbpf_(of_libbpf) {}
  explicit Link(UniqueFd of_kernel) : of_kernel_(std::move(of_kernel)) {}

  /// Whether there is one.
  explicit operator bool() const { return of_libbpf_ || of_kernel_.valid(); }
  [[nodiscard]] int fd() const;

 private:
  struct Destroy {
    void operator()(bpf_link* link) const;
  };
  std::unique_ptr<bpf_link, Destroy> of_libbpf_;
  UniqueFd of_kernel_;
};

}  // namespace uvtap
