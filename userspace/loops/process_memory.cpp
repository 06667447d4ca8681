// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/process_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace uvtap {

namespace {

// The user half with four-level page tables; above it only goes who asks mmap for it, which Node
// does not.
constexpr uint64_t lowest_address = 0x10000;
constexpr uint64_t address_end = 0x7fff'ffff'f000;
constexpr uint64_t page_size = 4096;
constexpr size_t max_pieces = 16;
constexpr size_t max_batch = 1024;  // IOV_MAX
constexpr size_t max_unmapped = 1024;

// An address in the other process, in the form that process_vm_readv wants.
iovec remote_piece(uint64_t address, size_t size) {
  return {reinterpret_cast<void*>(address), size};  // NOLINT(performance-no-int-to-ptr)
}

// As much as fits, cut where pages end: a transfer stops at the first piece that is not mapped.
std::vector<iovec> pages_of(uint64_t address, size_t size) {
  std::vector<iovec> pages;
  while (size > 0 && pages.size() < max_batch) {
    const size_t length = std::min<size_t>(size, page_size - address % page_size);
    if (!is_user_range(address, length)) break;
    pages.push_back(remote_piece(address, length));
    address += length;
    size -= length;
  }
  return pages;
}

// Reads words up to the first that is not mapped; returns how many.
size_t read_batch(pid_t pid, std::span<const uint64_t> addresses, std::span<uint64_t> words) {
  std::array<iovec, max_batch> remote;
  std::ranges::transform(addresses, remote.begin(),
                         [](uint64_t address) { return remote_piece(address, sizeof(uint64_t)); });
  const iovec local{words.data(), addresses.size() * sizeof(uint64_t)};
  const ssize_t length = ::process_vm_readv(pid, &local, 1, remote.data(), addresses.size(), 0);
  return length < 0 ? 0 : static_cast<size_t>(length) / sizeof(uint64_t);
}

}  // namespace

bool is_user_range(uint64_t address, uint64_t size) {
  return address >= lowest_address && address < address_end && size <= address_end - address;
}

Result<void> ProcessMemory::read(uint64_t address, std::span<std::byte> into) const {
  const Piece piece{address, into};
  return read_pieces({&piece, 1});
}

Result<void> ProcessMemory::read_pieces(std::span<const Piece> pieces) const {
  if (pieces.size() > max_pieces) return fail("more than {} pieces to read", max_pieces);
  std::array<iovec, max_pieces> local{};
  std::array<iovec, max_pieces> remote{};
  size_t wanted = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto& [address, into] = pieces[i];
    if (!is_user_range(address, into.size())) return fail("{:#x} is no user address", address);
    local[i] = {into.data(), into.size()};
    remote[i] = remote_piece(address, into.size());
    wanted += into.size();
  }
  const ssize_t length =
      ::process_vm_readv(pid_, local.data(), pieces.size(), remote.data(), pieces.size(), 0);
  if (length < 0) return fail_errno(errno, "cannot read the memory of process {}", pid_);
  if (static_cast<size_t>(length) != wanted) return fail("process {} has a hole there", pid_);
  return {};
}

size_t ProcessMemory::read_available(uint64_t address, std::span<std::byte> into) const {
  const std::vector<iovec> remote = pages_of(address, into.size());
  const iovec local{into.data(), into.size()};
  const ssize_t length = ::process_vm_readv(pid_, &local, 1, remote.data(), remote.size(), 0);
  return length < 0 ? 0 : static_cast<size_t>(length);
}

std::vector<std::optional<uint64_t>> ProcessMemory::read_words(
    std::span<const uint64_t> addresses) const {
  std::vector<std::optional<uint64_t>> result(addresses.size());
  std::array<uint64_t, max_batch> words{};
  size_t next = 0;
  for (size_t unmapped = 0; next < addresses.size() && unmapped < max_unmapped;) {
    const size_t wanted = std::min(addresses.size() - next, max_batch);
    const size_t done = read_batch(pid_, addresses.subspan(next, wanted), words);
    std::copy_n(words.begin(), done, result.begin() + static_cast<ptrdiff_t>(next));
    next += done;
    if (done == wanted) continue;
    ++unmapped;
    ++next;
  }
  return result;
}

}  // namespace uvtap
