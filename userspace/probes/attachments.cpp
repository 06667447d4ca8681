// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/attachments.h"

namespace uvtap {

std::vector<Attachments::Wanted> Attachments::wanted(pid_t pid, const ProbePlan& plan) const {
  std::vector<Wanted> all;
  auto want = [&](const ProbeTarget& target, bpf_program* program, pid_t only_in) {
    all.push_back({{target.inode, target.file_offset, only_in}, program, target.path, true});
  };
  if (plan.door == FRONT_DOOR_IO_POLL) want(*plan.io_poll, programs_->io_poll(), 0);
  if (plan.door == FRONT_DOOR_EPOLL)
    for (const auto& target : plan.epoll) want(target, programs_->epoll_wait(), pid);
  if (plan.uv_run && plan.door != FRONT_DOOR_MEMORY) want(*plan.uv_run, programs_->uv_run(), 0);
  // The tracepoints may be all that works here; they show a loop a little after its birth.
  if (plan.door == FRONT_DOOR_TRACEPOINT && !all.empty()) all.back().is_needed = false;
  return all;
}

/// An overlay leads to another inode once a file was copied up (by a chmod, say): a probe there
/// would never be hit by a process that still runs the first one.
Result<Link> Attachments::link_to(const Wanted& wanted) const {
  const auto& [inode, file_offset, pid] = wanted.key;
  const auto behind = programs_->file_behind(wanted.path);
  if (behind && InodeId{behind->device, behind->inode} != inode)
    return fail("{} leads to another file by now: it was replaced, or copied up in its overlay",
                wanted.path);
  return attach_uprobe(wanted.program, {wanted.path, file_offset}, pid ? pid : -1);
}

Result<void> Attachments::attach_one(pid_t user, const Wanted& wanted) {
  Probe& probe = probes_[wanted.key];
  if (!probe.link) {
    auto link = link_to(wanted);
    if (!link) {
      probes_.erase(wanted.key);
      return std::unexpected(link.error());
    }
    probe.link = std::move(*link);
  }
  probe.users.insert(user);
  return {};
}

Result<void> Attachments::use_tracepoints(pid_t pid) {
  if (tracepoint_links_.empty()) {
    auto links = attach_epoll_tracepoints(*programs_);
    if (!links) return std::unexpected(links.error());
    tracepoint_links_ = std::move(*links);
  }
  tracepoint_users_.insert(pid);
  return {};
}

Result<void> Attachments::attach(pid_t pid, const ProbePlan& plan) {
  Result<void> result;
  for (const auto& each : wanted(pid, plan)) {
    auto attached = attach_one(pid, each);
    if (attached || !each.is_needed) continue;
    result = attached;
    break;
  }
  if (result && plan.door == FRONT_DOOR_TRACEPOINT) result = use_tracepoints(pid);
  if (!result) detach(pid);
  return result;
}

void Attachments::detach(pid_t pid) {
  for (auto& [key, probe] : probes_) probe.users.erase(pid);
  std::erase_if(probes_, [](const auto& entry) { return entry.second.users.empty(); });
  tracepoint_users_.erase(pid);
  if (tracepoint_users_.empty()) tracepoint_links_.clear();
}

size_t Attachments::binaries() const {
  std::set<InodeId> inodes;
  for (const auto& [key, probe] : probes_) inodes.insert(key.inode);
  return inodes.size();
}

}  // namespace uvtap
