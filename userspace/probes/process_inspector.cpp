// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/process_inspector.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

namespace uvtap {
namespace {

/// Files remembered; a node has a few hundred. Beyond that all are read anew.
constexpr size_t max_known_images = 4096;
/// Different files looked at per process.
constexpr size_t max_images_per_process = 512;

/// One mapping per file, in the order of addresses: the executable stands first where it is not
/// PIE.
std::vector<mapped_file> one_per_inode(const std::vector<mapped_file>& files) {
  std::set<InodeId> seen;
  std::vector<mapped_file> distinct;
  for (const auto& file : files)
    if (distinct.size() < max_images_per_process && seen.insert({file.device, file.inode}).second)
      distinct.push_back(file);
  return distinct;
}

}  // namespace

Result<PlanOutcome> ProcessInspector::inspect(pid_t pid) {
  auto files = mapped_files_->of(pid);
  if (!files) return std::unexpected(files.error());
  if (files->empty()) return PlanOutcome{};  // a kernel thread, gone, or not there yet
  std::vector<LoadedImage> images;
  std::optional<Error> executable_unread;
  Error last_error;
  for (const auto& file : one_per_inode(*files)) {
    auto loaded = load(pid, file);
    if (loaded) {
      images.push_back(std::move(*loaded));
      continue;
    }
    last_error = loaded.error();
    if (file.inode == executable_number(pid)) executable_unread = last_error;
    spdlog::debug("pid {}: a mapped file is passed over: {}", pid, last_error.message);
  }
  if (images.empty()) return std::unexpected(last_error);
  auto outcome = plan_probes(images, doors_);
  // Without its executable nobody can say that it is not Node.js.
  if (executable_unread && !outcome.plan) return std::unexpected(*executable_unread);
  return outcome;
}

/// 0 for a process that is gone. Needs no right to read the file. The number alone would not do to
/// attach a probe, see leads_to().
uint64_t ProcessInspector::executable_number(pid_t pid) const {
  struct stat status{};
  return stat(proc_.exe_path(pid).c_str(), &status) == 0 ? status.st_ino : 0;
}

Result<LoadedImage> ProcessInspector::load(pid_t pid, const mapped_file& file) {
  auto path = path_to(pid, file);
  if (!path) return std::unexpected(path.error());
  const InodeId inode{file.device, file.inode};
  auto image = image_of(inode, *path);
  if (!image) return std::unexpected(image.error());
  return LoadedImage{
      inode, *path, *image, file.start, file.file_offset, is_local_filesystem(file.filesystem)};
}

Result<std::string> ProcessInspector::path_to(pid_t pid, const mapped_file& file) const {
  // map_files leads to the very file, deleted or replaced though it may be, but needs
  // CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. Without them exe does as much for the executable, and
  // the path in the process's root for a library that is still there.
  auto exact = proc_.map_files_path(pid, file.start, file.end);
  if (faccessat(AT_FDCWD, exact.c_str(), R_OK, AT_EACCESS) == 0) return exact;
  auto executable = proc_.exe_path(pid);
  if (leads_to(executable, file)) return executable;
  auto mapped = proc_.mapped_images(pid);
  if (!mapped) return std::unexpected(mapped.error());
  auto same = std::ranges::find(*mapped, file.start, &MappedImage::start);
  if (same == mapped->end()) return fail("the mapping is gone");
  auto path = proc_.root_path(pid, same->path);
  if (leads_to(path, file)) return path;
  return fail("{} cannot be read, or was deleted or replaced while it runs", same->path);
}

bool ProcessInspector::leads_to(const std::string& path, const mapped_file& file) const {
  const auto behind = mapped_files_->behind(path);
  return behind && behind->device == file.device && behind->inode == file.inode;
}

Result<Image> ProcessInspector::image_of(const InodeId& inode, const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return fail_errno(errno, "{}", path);
  const FileStamp stamp{static_cast<uint64_t>(status.st_size), status.st_ctim.tv_sec,
                        status.st_ctim.tv_nsec};
  auto known = images_.find(inode);
  if (known != images_.end() && known->second.stamp == stamp) return known->second.image;
  auto image = read_image(path);
  if (!image) return image;
  if (images_.size() >= max_known_images) images_.clear();
  images_[inode] = {stamp, *image};
  return image;
}

}  // namespace uvtap
