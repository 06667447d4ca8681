// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "userspace/util/result.h"

namespace uvtap {

/// Tells one content of a file from the next, whether it was written over, renamed into place, or
/// reached through a link that was turned, as a mounted Secret of Kubernetes is.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t modified_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

/// What stands in a file that a person configured, such as a key.
struct SecretText {
  std::string text;
  FileStamp stamp;
  bool readable_by_all = false;
};

/// Reads a regular file of 1 to `limit` bytes. Follows links; never blocks on a FIFO or a device.
[[nodiscard]] Result<SecretText> read_secret_file(const std::string& path, size_t limit);

/// Of the file that the path leads to now; all zero where there is none.
[[nodiscard]] FileStamp stamp_of(const std::string& path);

}  // namespace uvtap
