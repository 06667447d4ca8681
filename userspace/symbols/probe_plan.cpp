// SPDX-License-Identifier: Apache-2.0
#include "userspace/symbols/probe_plan.h"

#include <algorithm>

namespace uvtap {
namespace {

const LoadedImage* find_image(const std::vector<LoadedImage>& images, auto has_it) {
  auto found = std::ranges::find_if(
      images, [&](const LoadedImage& loaded) { return static_cast<bool>(has_it(loaded.image)); });
  return found == images.end() ? nullptr : &*found;
}

PlanOutcome unsupported(std::string reason, std::string message) {
  return {.plan = {}, .unsupported = Unsupported{std::move(reason), std::move(message)}};
}

/// Where a linked address stands in the process; 0 if it is not known.
uint64_t run_time_address(const LoadedImage& loaded, std::optional<uint64_t> linked) {
  if (!linked) return 0;
  const uint64_t linked_there = loaded.image.first_load_address + loaded.mapped_file_offset -
                                loaded.image.first_load_file_offset;
  return *linked + loaded.mapped_at - linked_there;
}

std::optional<ProbeTarget> target_in(const LoadedImage& loaded, std::optional<uint64_t> offset) {
  if (!offset || !loaded.takes_probes) return std::nullopt;
  return ProbeTarget{loaded.inode, loaded.path, *offset};
}

std::vector<ProbeTarget> epoll_targets(const std::vector<LoadedImage>& images) {
  std::vector<ProbeTarget> targets;
  const LoadedImage* libc =
      find_image(images, [](const Image& image) { return image.epoll_pwait_offset.has_value(); });
  if (!libc) return targets;
  for (auto offset : {libc->image.epoll_wait_offset, libc->image.epoll_pwait_offset})
    if (auto target = target_in(*libc, offset)) targets.push_back(*target);
  return targets;
}

bool can_use(front_door door, const ProbePlan& plan) {
  switch (door) {
    case FRONT_DOOR_IO_POLL:
      return plan.io_poll.has_value();
    case FRONT_DOOR_EPOLL:
      return plan.epoll.size() == 2;
    case FRONT_DOOR_TRACEPOINT:
      return true;
    case FRONT_DOOR_MEMORY:
      return plan.default_loop_pointer != 0;
    default:
      return false;
  }
}

std::string no_door_message(const DoorPreference& doors, bool takes_probes) {
  if (!takes_probes)
    return "no probe is put into a file of FUSE or of another machine, which may never answer; use "
           "--front-door auto or tracepoint";
  if (doors == DoorPreference{FRONT_DOOR_IO_POLL})
    return "its libuv is stripped of uv__io_poll; use --front-door auto or tracepoint";
  if (doors == DoorPreference{FRONT_DOOR_EPOLL})
    return "it maps no libc that exports epoll_wait; use --front-door auto or tracepoint";
  return "none of the front doors allowed here works for it; use --front-door auto";
}

}  // namespace

PlanOutcome plan_probes(const std::vector<LoadedImage>& images, const DoorPreference& doors) {
  const LoadedImage* node =
      find_image(images, [](const Image& image) { return image.exports_node_start; });
  const LoadedImage* libuv =
      find_image(images, [](const Image& image) { return image.exports_uv_run; });
  if (!node && !libuv) return {};
  if (!node)
    return unsupported("not_node", "exports libuv's names but not node::Start: not Node.js");
  if (!libuv || !libuv->image.libuv_version)
    return unsupported("unknown_libuv", "Node.js whose libuv does not tell its version");
  auto layout = libuv_layout(*libuv->image.libuv_version);
  if (!layout) return unsupported("unknown_libuv", layout.error().message);

  ProbePlan plan{
      .libuv_version = *libuv->image.libuv_version,
      .layout = *layout,
      .door = FRONT_DOOR_NONE,
      .uv_run = target_in(*libuv, libuv->image.uv_run_offset),
      .io_poll = target_in(*libuv, libuv->image.io_poll_offset),
      .epoll = epoll_targets(images),
      .default_loop_pointer = run_time_address(*libuv, libuv->image.default_loop_pointer),
      .node_metadata = run_time_address(*node, node->image.node_metadata)};
  auto door = std::ranges::find_if(doors, [&](front_door each) { return can_use(each, plan); });
  if (door == doors.end())
    return unsupported("no_front_door", no_door_message(doors, libuv->takes_probes));
  plan.door = *door;
  return {.plan = std::move(plan), .unsupported = {}};
}

}  // namespace uvtap
