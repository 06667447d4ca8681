// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "userspace/util/result.h"

namespace uvtap {

/// Whether `size` bytes at this address can be a process's memory: canonical, in the user half, not
/// in the first 64 KiB, which the kernel keeps unmapped.
[[nodiscard]] bool is_user_range(uint64_t address, uint64_t size);

/// Reads another process's memory, without stopping it. What stands there is whatever that process
/// put there, and changes while it is read. Addresses are checked before the kernel sees them.
class ProcessMemory {
 public:
  explicit ProcessMemory(pid_t pid) : pid_(pid) {}

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Fills `into` or fails; there is no half a success.
  [[nodiscard]] Result<void> read(uint64_t address, std::span<std::byte> into) const;
  template <typename Value>
  [[nodiscard]] Result<Value> read_value(uint64_t address) const;

  /// One stretch of memory to be read.
  struct Piece {
    uint64_t address = 0;
    std::span<std::byte> into;
  };
  /// Reads all pieces (at most 16) in one system call, in this order, or fails.
  [[nodiscard]] Result<void> read_pieces(std::span<const Piece> pieces) const;

  /// Reads as much from this address upward as is mapped without a hole; returns how many bytes.
  [[nodiscard]] size_t read_available(uint64_t address, std::span<std::byte> into) const;

  /// Reads the word at each address, nothing where there is none; the addresses must be aligned to
  /// eight bytes. After 1,024 addresses that are not mapped the rest is left unread: a process that
  /// is full of wrong pointers must not cost without end.
  [[nodiscard]] std::vector<std::optional<uint64_t>> read_words(
      std::span<const uint64_t> addresses) const;

 private:
  pid_t pid_;
};

template <typename Value>
Result<Value> ProcessMemory::read_value(uint64_t address) const {
  static_assert(std::is_trivially_copyable_v<Value>);
  Value value{};
  const Result<void> done = read(address, std::as_writable_bytes(std::span(&value, 1)));
  if (!done) return std::unexpected(done.error());
  return value;
}

}  // namespace uvtap
