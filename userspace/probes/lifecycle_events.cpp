// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/lifecycle_events.h"

#include <bpf/libbpf.h>

#include <cerrno>

namespace uvtap {

void LifecycleEvents::RingDeleter::operator()(ring_buffer* ring) const { ring_buffer__free(ring); }

Result<std::unique_ptr<LifecycleEvents>> LifecycleEvents::open(const BpfPrograms& programs) {
  std::unique_ptr<LifecycleEvents> events(new LifecycleEvents);
  events->ring_.reset(
      ring_buffer__new(programs.lifecycle_events_fd(), on_event, events.get(), nullptr));
  if (!events->ring_) return fail_errno(errno, "cannot read the kernel's process events");
  return events;
}

int LifecycleEvents::fd() const { return ring_buffer__epoll_fd(ring_.get()); }

void LifecycleEvents::take(const Handler& handler) {
  handler_ = &handler;
  ring_buffer__consume(ring_.get());
  handler_ = nullptr;
}

int LifecycleEvents::on_event(void* self, void* data, size_t size) {
  auto* events = static_cast<LifecycleEvents*>(self);
  if (size >= sizeof(lifecycle_event) && events->handler_)
    (*events->handler_)(*static_cast<const lifecycle_event*>(data));
  return 0;
}

}  // namespace uvtap
