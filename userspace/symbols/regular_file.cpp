// SPDX-License-Identifier: Apache-2.0
#include "userspace/symbols/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace uvtap {

Result<RegularFile> RegularFile::open(const std::string& path) {
  // A path out of a container may name a fifo or a terminal: neither wait for it nor adopt it.
  RegularFile file;
  file.fd_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.fd_.valid()) return fail_errno(errno, "cannot be opened");

  struct stat status{};
  if (::fstat(file.fd_.get(), &status) != 0) return fail_errno(errno, "cannot be inspected");
  if (!S_ISREG(status.st_mode)) return fail("is not a regular file");
  file.size_ = static_cast<uint64_t>(status.st_size);
  return file;
}

Result<void> RegularFile::read(uint64_t offset, std::span<std::byte> into) const {
  if (!contains({offset, into.size()}))
    return fail("does not hold {} bytes at byte {}", into.size(), offset);
  while (!into.empty()) {
    const ssize_t got = ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "cannot be read at byte {}", offset);
    if (got == 0) return fail("was truncated while it was read");
    into = into.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return {};
}

}  // namespace uvtap
