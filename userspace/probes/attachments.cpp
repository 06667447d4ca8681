// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/attachments.h"

#include <cerrno>
#include <csignal>

namespace uvtap {
namespace {

bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

}  // namespace

std::vector<Attachments::Wanted> Attachments::wanted(pid_t pid, const ProbePlan& plan) const {
  std::vector<Wanted> all;
  auto want = [&](const ProbeTarget& target, bpf_program* program, pid_t only_in) {
    all.push_back({{target.inode, target.file_offset, only_in}, program, target.path, true});
  };
  if (plan.door == FRONT_DOOR_IO_POLL)
    want(*plan.io_poll, programs_->io_poll(), spared_.contains(plan.io_poll->inode) ? pid : 0);
  if (plan.door == FRONT_DOOR_EPOLL)
    for (const auto& target : plan.epoll) want(target, programs_->epoll_wait(), pid);
  if (plan.uv_run && plan.door != FRONT_DOOR_MEMORY) want(*plan.uv_run, programs_->uv_run(), 0);
  // The tracepoints may be all that works here; they show a loop a little after its birth.
  if (plan.door == FRONT_DOOR_TRACEPOINT && !all.empty()) all.back().is_needed = false;
  return all;
}

/// An overlay leads to another inode once a file was copied up (by a chmod, say): a probe there
/// would never be hit by a process that still runs the first one.
Result<Link> Attachments::link_to(pid_t user, const Wanted& wanted) {
  const auto& [inode, file_offset, pid] = wanted.key;
  const auto looked = looks_->look(
      user, "its files",
      [files = programs_->mapped_files(), path = wanted.path] { return files->behind(path); });
  if (!looked) return fail("{} does not answer", wanted.path);
  const auto& behind = *looked;
  if (behind && InodeId{behind->device, behind->inode} != inode)
    return fail("{} leads to another file by now: it was replaced, or copied up in its overlay",
                wanted.path);
  return attach_uprobe(wanted.program, {wanted.path, file_offset}, pid ? pid : -1);
}

Result<void> Attachments::attach_one(pid_t user, const Wanted& wanted) {
  Probe& probe = probes_[wanted.key];
  if (!probe.link) {
    auto link = link_to(user, wanted);
    if (!link) {
      probes_.erase(wanted.key);
      return std::unexpected(link.error());
    }
    probe.link = std::move(*link);
    if (wanted.key.pid == 0) take_over_own_probes(wanted.key);
  }
  probes_[wanted.key].users.insert(user);
  return {};
}

/// Probes that single processes had while another one was spared.
void Attachments::take_over_own_probes(const ProbeKey& shared) {
  std::set<pid_t>& users = probes_.at(shared).users;
  std::erase_if(probes_, [&](const auto& entry) {
    const auto& [key, probe] = entry;
    if (key.pid == 0 || ProbeKey{key.inode, key.file_offset, 0} != shared) return false;
    users.insert(probe.users.begin(), probe.users.end());
    return true;
  });
}

Result<void> Attachments::replace_shared(const ProbeTarget& target, pid_t spared) {
  const auto shared = probes_.find({target.inode, target.file_offset, 0});
  if (shared == probes_.end()) return {};
  for (pid_t user : shared->second.users) {
    if (user == spared) continue;
    const ProbeKey own{target.inode, target.file_offset, user};
    auto attached = attach_one(user, {own, programs_->io_poll(), target.path, true});
    if (attached || is_gone(user)) continue;
    take_over_own_probes(shared->first);
    return attached;
  }
  probes_.erase(shared);
  return {};
}

Result<void> Attachments::spare(pid_t pid, const ProbePlan& plan) {
  if (plan.door == FRONT_DOOR_IO_POLL) {
    if (auto replaced = replace_shared(*plan.io_poll, pid); !replaced) return replaced;
    spared_[plan.io_poll->inode].insert(pid);
  }
  remove_user(pid);
  return {};
}

Result<void> Attachments::restore(pid_t pid, const ProbePlan& plan) {
  stop_sparing(pid);
  return attach(pid, plan);
}

void Attachments::stop_sparing(pid_t pid) {
  for (auto& [inode, pids] : spared_) pids.erase(pid);
  std::erase_if(spared_, [](const auto& entry) { return entry.second.empty(); });
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
  stop_sparing(pid);
  remove_user(pid);
}

void Attachments::remove_user(pid_t pid) {
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
