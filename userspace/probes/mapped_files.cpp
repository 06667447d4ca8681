// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/mapped_files.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "userspace/probes/file_page.h"

namespace uvtap {
namespace {

/// Not 9P: it is how a virtual machine sees the files of its host, and no volume of Kubernetes.
constexpr std::array<uint64_t, 7> remote_filesystems = {
    FUSE_SUPER_MAGIC, NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC, CIFS_SUPER_MAGIC,
    SMB2_SUPER_MAGIC, CEPH_SUPER_MAGIC, AFS_SUPER_MAGIC};

UniqueFd duplicate(int fd) { return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

/// What this thread asks, for as long as it asks.
class Query {
 public:
  Query(const UniqueFd& queries, const mapping_query& query)
      : queries_(queries.get()), thread_(static_cast<uint32_t>(gettid())) {
    asked_ = bpf_map_update_elem(queries_, &thread_, &query, BPF_ANY) == 0;
  }
  ~Query() { bpf_map_delete_elem(queries_, &thread_); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  [[nodiscard]] bool asked() const { return asked_; }

 private:
  int queries_;
  uint32_t thread_;
  bool asked_ = false;
};

}  // namespace

Result<std::shared_ptr<const MappedFiles>> MappedFiles::create(int program_fd, int queries_fd) {
  auto files = std::make_shared<MappedFiles>();
  files->program_ = duplicate(program_fd);
  files->queries_ = duplicate(queries_fd);
  if (!files->program_.valid() || !files->queries_.valid())
    return fail_errno(errno, "cannot duplicate a descriptor");
  return files;
}

Result<std::vector<mapped_file>> MappedFiles::of(pid_t pid) const {
  return ask({.tgid = static_cast<uint32_t>(pid), .pad = 0, .start = 0});
}

Result<mapped_file> MappedFiles::behind(const std::string& path) const {
  const auto page = FilePage::map(path);
  if (!page) return std::unexpected(page.error());
  const auto files =
      ask({.tgid = static_cast<uint32_t>(getpid()), .pad = 0, .start = page->address()});
  if (!files) return std::unexpected(files.error());
  if (files->empty()) return fail("{}: the kernel does not show it", path);
  return files->front();
}

/// Over one process alone; before 6.1 only over all of them, and the program picks.
UniqueFd MappedFiles::link_iterator(pid_t pid) const {
  bpf_iter_link_info only{};
  only.task.pid = static_cast<uint32_t>(pid);
  bpf_link_create_opts options{};
  options.sz = sizeof(options);
  options.iter_info = &only;
  options.iter_info_len = sizeof(only);
  UniqueFd link(bpf_link_create(program_.get(), 0, BPF_TRACE_ITER, &options));
  if (link.valid()) return link;
  return UniqueFd(bpf_link_create(program_.get(), 0, BPF_TRACE_ITER, nullptr));
}

Result<std::vector<mapped_file>> MappedFiles::ask(const mapping_query& query) const {
  const UniqueFd link = link_iterator(static_cast<pid_t>(query.tgid));
  if (!link.valid()) return fail_errno(errno, "cannot attach the task_vma iterator");
  const Query asking(queries_, query);
  if (!asking.asked()) return fail_errno(errno, "cannot ask the task_vma iterator");
  const UniqueFd iteration(bpf_iter_create(link.get()));
  if (!iteration.valid()) return fail_errno(errno, "cannot start the task_vma iterator");
  std::vector<mapped_file> files;
  std::array<mapped_file, 256> chunk;
  for (;;) {
    const ssize_t got = read(iteration.get(), chunk.data(), sizeof(chunk));
    if (got < 0 && errno == EAGAIN) continue;  // the kernel's word for a long stretch of nothing
    if (got < 0) return fail_errno(errno, "cannot read the task_vma iterator");
    if (got == 0) return files;
    auto count = static_cast<size_t>(got) / sizeof(mapped_file);
    files.insert(files.end(), chunk.begin(), chunk.begin() + static_cast<ptrdiff_t>(count));
  }
}

bool is_local_filesystem(uint64_t magic) {
  return std::ranges::find(remote_filesystems, magic) == remote_filesystems.end();
}

}  // namespace uvtap
