// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

#include "userspace/util/unique_fd.h"

namespace uvtap::test {

/// A regular file that stands in no folder: what it holds is written by the test.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("test", MFD_CLOEXEC)) {
    if (!fd_.valid()) throw std::runtime_error("memfd_create failed");
  }
  explicit MemoryFile(std::span<const std::byte> content) : MemoryFile() { write(0, content); }

  void write(size_t offset, std::span<const std::byte> content) {
    const auto written =
        ::pwrite(fd_.get(), content.data(), content.size(), static_cast<off_t>(offset));
    if (written != static_cast<ssize_t>(content.size())) throw std::runtime_error("pwrite failed");
  }

  /// What is added reads as zeros and takes no space.
  void resize(size_t size) {
    if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) {
      throw std::runtime_error("ftruncate failed");
    }
  }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }

 private:
  UniqueFd fd_;
};

}  // namespace uvtap::test
