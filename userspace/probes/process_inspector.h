// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "userspace/discovery/proc_fs.h"
#include "userspace/probes/mapped_files.h"
#include "userspace/symbols/probe_plan.h"
#include "userspace/util/result.h"

namespace uvtap {

/// Finds out what a process is made of and how it can be observed. A file is read once, however
/// many processes map it.
class ProcessInspector {
 public:
  /// Shares or owns all that it uses: a thread that hangs in inspect() is left behind with it.
  ProcessInspector(ProcFs proc, std::shared_ptr<const MappedFiles> mapped_files,
                   DoorPreference doors)
      : proc_(std::move(proc)), mapped_files_(std::move(mapped_files)), doors_(std::move(doors)) {}

  /// An error where the process could not be looked at: its executable cannot be read, or none of
  /// its files.
  [[nodiscard]] Result<PlanOutcome> inspect(pid_t pid);

 private:
  /// Tells a file from another one that was given its inode number later.
  struct FileStamp {
    uint64_t size = 0;
    int64_t changed_s = 0;
    int64_t changed_ns = 0;
    auto operator<=>(const FileStamp&) const = default;
  };
  struct KnownImage {
    FileStamp stamp;
    Image image;
  };
  [[nodiscard]] uint64_t executable_number(pid_t pid) const;
  [[nodiscard]] Result<LoadedImage> load(pid_t pid, const mapped_file& file);
  [[nodiscard]] Result<std::string> path_to(pid_t pid, const mapped_file& file) const;
  [[nodiscard]] bool leads_to(const std::string& path, const mapped_file& file) const;
  [[nodiscard]] Result<Image> image_of(const InodeId& inode, const std::string& path);

  ProcFs proc_;
  std::shared_ptr<const MappedFiles> mapped_files_;
  DoorPreference doors_;
  std::map<InodeId, KnownImage> images_;
};

}  // namespace uvtap
