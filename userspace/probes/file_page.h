// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "userspace/util/result.h"

namespace uvtap {

/// The first page of a regular file, mapped so that the kernel can be asked which file that is. It
/// is never read: a file that is truncated meanwhile does no harm.
class FilePage {
 public:
  static Result<FilePage> map(const std::string& path);
  FilePage(FilePage&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}
  FilePage& operator=(FilePage&&) = delete;
  ~FilePage();

  [[nodiscard]] uint64_t address() const { return reinterpret_cast<uint64_t>(page_); }

 private:
  explicit FilePage(void* page) : page_(page) {}
  void* page_;
};

}  // namespace uvtap
