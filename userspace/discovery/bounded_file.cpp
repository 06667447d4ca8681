// SPDX-License-Identifier: Apache-2.0
#include "userspace/discovery/bounded_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "userspace/discovery/proc_text.h"
#include "userspace/util/unique_fd.h"

namespace uvtap {

namespace {

constexpr size_t chunk_size = 65536;
constexpr size_t max_line = 8192;  // a path has at most 4,096 bytes

// O_NONBLOCK: opening a FIFO would wait for a writer otherwise.
Result<UniqueFd> open_regular(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return fail_errno(errno, "cannot open {}", path);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail_errno(errno, "cannot look at {}", path);
  if (!S_ISREG(status.st_mode)) return fail("{} is not a regular file", path);
  return fd;
}

Result<size_t> read_some(const UniqueFd& fd, std::span<char> into, const std::string& path) {
  ssize_t length = 0;
  do {
    length = ::read(fd.get(), into.data(), into.size());
  } while (length < 0 && errno == EINTR);
  if (length < 0) return fail_errno(errno, "cannot read {}", path);
  return static_cast<size_t>(length);
}

// Cuts the complete lines off the front of the text.
void visit_lines(std::string& text, const std::function<void(std::string_view)>& visit) {
  std::string_view rest = text;
  for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    if (end <= max_line) visit(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  text.erase(0, text.size() - rest.size());
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

Result<std::string> read_bounded(const std::string& path, size_t limit) {
  const Result<UniqueFd> fd = open_regular(path);
  if (!fd) return std::unexpected(fd.error());
  std::string text;
  while (text.size() < limit) {
    const size_t before = text.size();
    text.resize(std::min(before + chunk_size, limit));
    const Result<size_t> length = read_some(*fd, std::span(text).subspan(before), path);
    if (!length) return std::unexpected(length.error());
    text.resize(before + *length);
    if (*length == 0) break;
  }
  return text;
}

Result<void> for_each_line(const std::string& path, size_t limit,
                           const std::function<void(std::string_view)>& visit) {
  const Result<UniqueFd> fd = open_regular(path);
  if (!fd) return std::unexpected(fd.error());
  std::string chunk(chunk_size, '\0');
  std::string unfinished;
  size_t total = 0;
  while (true) {
    const Result<size_t> length = read_some(*fd, chunk, path);
    if (!length) return std::unexpected(length.error());
    if (*length == 0) break;
    total += *length;
    if (total > limit) return fail("{} is larger than {} bytes", path, limit);
    unfinished.append(chunk, 0, *length);
    visit_lines(unfinished, visit);
  }
  if (!unfinished.empty() && unfinished.size() <= max_line) visit(unfinished);
  return {};
}

Result<std::vector<pid_t>> list_numbers(const std::string& path, size_t limit) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  if (!directory) return fail_errno(errno, "cannot list {}", path);
  std::vector<pid_t> numbers;
  for (size_t entries = 0;; ++entries) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());  // NOLINT(concurrency-mt-unsafe): own stream
    if (entry == nullptr && errno != 0) return fail_errno(errno, "cannot list {}", path);
    if (entry == nullptr) return numbers;
    if (entries >= limit) return fail("{} has more than {} entries", path, limit);
    const std::optional<uint64_t> number = parse_decimal(entry->d_name);
    if (number && *number > 0 && *number <= std::numeric_limits<pid_t>::max()) {
      numbers.push_back(static_cast<pid_t>(*number));
    }
  }
}

}  // namespace uvtap
