// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "bpf/loop_contract.h"
#include "userspace/probes/bpf_programs.h"
#include "userspace/util/result.h"

struct ring_buffer;

namespace uvtap {

/// The births and deaths of processes, as the kernel reports them.
class LifecycleEvents {
 public:
  using Handler = std::function<void(const lifecycle_event&)>;

  static Result<std::unique_ptr<LifecycleEvents>> open(const BpfPrograms& programs);

  /// Readable when there is something to take.
  [[nodiscard]] int fd() const;
  /// Hands over what there is, without waiting.
  void take(const Handler& handler);

 private:
  LifecycleEvents() = default;
  static int on_event(void* self, void* data, size_t size);

  struct RingDeleter {
    void operator()(ring_buffer* ring) const;
  };
  std::unique_ptr<ring_buffer, RingDeleter> ring_;
  const Handler* handler_ = nullptr;
};

}  // namespace uvtap
