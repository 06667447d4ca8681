// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "userspace/util/result.h"
#include "userspace/util/unique_fd.h"

namespace uvtap {

/// A part of a file, in bytes.
struct FileRange {
  uint64_t offset = 0;
  uint64_t size = 0;
};

/// A regular file open for reading. Read with pread and never mapped, so that a file truncated
/// meanwhile is a short read and no SIGBUS.
class RegularFile {
 public:
  /// Refuses everything but a regular file, without blocking on it.
  static Result<RegularFile> open(const std::string& path);

  [[nodiscard]] int descriptor() const { return fd_.get(); }

  /// Whether the range lay inside the file when it was opened.
  [[nodiscard]] bool contains(FileRange range) const {
    return range.offset <= size_ && range.size <= size_ - range.offset;
  }

  /// Fills `into`; fails where the file holds fewer bytes.
  [[nodiscard]] Result<void> read(uint64_t offset, std::span<std::byte> into) const;

  template <typename T>
  [[nodiscard]] Result<T> read_object(uint64_t offset) const {
    T object{};
    if (auto done = read_objects(offset, std::span(&object, 1)); !done) {
      return std::unexpected(done.error());
    }
    return object;
  }

  /// The caller bounds `count`.
  template <typename T>
  [[nodiscard]] Result<std::vector<T>> read_array(uint64_t offset, size_t count) const {
    std::vector<T> objects(count);
    if (auto done = read_objects(offset, std::span(objects)); !done) {
      return std::unexpected(done.error());
    }
    return objects;
  }

  /// Shows an array of any length piece by piece, until `visit(span<const T>)` returns false.
  template <typename T, typename Visit>
  [[nodiscard]] Result<void> visit_array(uint64_t offset, uint64_t count, Visit visit) const {
    std::vector<T> piece(std::min<uint64_t>(count, piece_bytes / sizeof(T)));
    for (uint64_t done = 0; done < count; done += piece.size()) {
      piece.resize(std::min<uint64_t>(piece.size(), count - done));
      if (auto read = read_objects(offset + done * sizeof(T), std::span(piece)); !read) return read;
      if (!visit(std::span<const T>(piece))) break;
    }
    return {};
  }

  /// How much of a table is held in memory at a time.
  static constexpr size_t piece_bytes = size_t{64} << 10;

 private:
  template <typename T>
  [[nodiscard]] Result<void> read_objects(uint64_t offset, std::span<T> into) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return read(offset, std::as_writable_bytes(into));
  }

  UniqueFd fd_;
  uint64_t size_ = 0;
};

}  // namespace uvtap
