// SPDX-License-Identifier: Apache-2.0
#include "userspace/util/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "userspace/util/unique_fd.h"

namespace uvtap {
namespace {

FileStamp stamp(const struct stat& status) {
  constexpr int64_t second_ns = 1'000'000'000;
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .modified_ns = status.st_mtim.tv_sec * second_ns + status.st_mtim.tv_nsec};
}

/// At most one byte more than `limit`, which tells that there is too much.
Result<std::string> read_text(const UniqueFd& file, size_t limit, const std::string& path) {
  std::string text(limit + 1, '\0');
  size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "cannot read {}", path);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  text.resize(filled);
  if (text.empty()) return fail("{} is empty", path);
  if (text.size() > limit) return fail("{} has more than {} bytes", path, limit);
  return text;
}

}  // namespace

Result<SecretText> read_secret_file(const std::string& path, size_t limit) {
  // O_NONBLOCK: opening a FIFO would wait for a writer otherwise.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.valid()) return fail_errno(errno, "cannot open {}", path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return fail_errno(errno, "cannot look at {}", path);
  if (!S_ISREG(status.st_mode)) return fail("{} is not a regular file", path);
  auto text = read_text(file, limit, path);
  if (!text) return std::unexpected(text.error());
  return SecretText{.text = std::move(*text),
                    .stamp = stamp(status),
                    .readable_by_all = (status.st_mode & S_IROTH) != 0};
}

FileStamp stamp_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return {};
  return stamp(status);
}

}  // namespace uvtap
