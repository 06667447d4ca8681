// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/front_door.h"

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "userspace/probes/refusals.h"
#include "userspace/probes/tracefs.h"
#include "userspace/probes/uprobe_multi.h"
#include "userspace/util/unique_fd.h"

namespace uvtap {
namespace {

Result<UniqueFd> open_tracepoint_event(uint64_t tracepoint_id) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_TRACEPOINT;
  attributes.size = sizeof(attributes);
  attributes.config = tracepoint_id;
  UniqueFd event(
      static_cast<int>(syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!event.valid()) return fail("{}", why_perf_event_is_refused(errno));
  return event;
}

Result<Link> attach_tracepoint(bpf_program* program, std::string_view event_name) {
  auto id = syscall_tracepoint_id(event_name);
  if (!id) return fail("{}", why_tracepoint_is_unknown(id.error().message));
  auto event = open_tracepoint_event(*id);
  if (!event) return fail("cannot open the tracepoint {}: {}", event_name, event.error().message);
  Link link(bpf_program__attach_perf_event(program, event->get()));
  if (!link) return fail_errno(errno, "cannot attach to the tracepoint {}", event_name);
  (void)event->release();  // the link closes it
  return link;
}

/// The way that the program was loaded for.
UprobeWay way_of(const bpf_program* program) {
  return uint32_t{bpf_program__expected_attach_type(program)} == uprobe_multi_attach_type
             ? UprobeWay::uprobe_multi
             : UprobeWay::perf_event;
}

/// None with errno set where it fails.
Link try_uprobe(bpf_program* program, const UprobeTarget& target, pid_t pid) {
  if (way_of(program) == UprobeWay::uprobe_multi)
    return Link(
        create_uprobe_multi_link(bpf_program__fd(program), target.path, target.file_offset, pid));
  bpf_uprobe_opts options{};
  options.sz = sizeof(options);
  return Link(bpf_program__attach_uprobe_opts(program, pid, target.path.c_str(), target.file_offset,
                                              &options));
}

}  // namespace

Result<Link> attach_uprobe(bpf_program* program, const UprobeTarget& target, pid_t pid) {
  Link link = try_uprobe(program, target, pid);
  if (!link)
    return fail("cannot attach {} at {}+{:#x}: {}", bpf_program__name(program), target.path,
                target.file_offset, why_uprobe_is_refused(errno, way_of(program)));
  return link;
}

Result<std::vector<Link>> attach_epoll_tracepoints(const BpfPrograms& programs) {
  std::vector<Link> links;
  for (std::string_view event : {"sys_enter_epoll_wait", "sys_enter_epoll_pwait"}) {
    auto link = attach_tracepoint(programs.sys_enter_epoll(), event);
    if (!link) return std::unexpected(link.error());
    links.push_back(std::move(*link));
  }
  return links;
}

}  // namespace uvtap
