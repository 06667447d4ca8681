// SPDX-License-Identifier: Apache-2.0
#include "userspace/discovery/proc_fs.h"

#include <map>
#include <tuple>
#include <utility>

#include "userspace/discovery/bounded_file.h"

namespace uvtap {

namespace {

constexpr size_t max_processes = 1'000'000;
constexpr size_t max_threads = 65'536;
constexpr size_t max_images = 4096;
constexpr size_t max_small_file = 4096;
constexpr size_t max_command_line = size_t{64} << 10;
constexpr size_t max_cgroup = size_t{64} << 10;
constexpr size_t max_maps = size_t{16} << 20;

// Collects executable mappings from lines that come in the order of addresses, as maps has them.
class ImageCollector {
 public:
  void add_line(std::string_view line) {
    const std::optional<FileMapping> mapping = parse_maps_line(line);
    if (!mapping || images_.size() >= max_images) return;
    const FileKey key{mapping->device_major, mapping->device_minor, mapping->inode};
    const auto lowest =
        lowest_.try_emplace(key, Lowest{mapping->start, mapping->file_offset}).first;
    if (mapping->executable) images_.push_back(image_of(*mapping, lowest->second));
  }

  std::vector<MappedImage> take() { return std::move(images_); }

 private:
  using FileKey = std::tuple<uint32_t, uint32_t, uint64_t>;  // device major and minor, inode
  struct Lowest {
    uint64_t start;
    uint64_t file_offset;
  };

  static MappedImage image_of(const FileMapping& mapping, const Lowest& lowest) {
    return {.start = mapping.start,
            .end = mapping.end,
            .file_offset = mapping.file_offset,
            .path = std::string(mapping.path),
            .inode = mapping.inode,
            .device_major = mapping.device_major,
            .device_minor = mapping.device_minor,
            .lowest_start = lowest.start,
            .lowest_file_offset = lowest.file_offset};
  }

  std::vector<MappedImage> images_;
  std::map<FileKey, Lowest> lowest_;
};

// Parses what was read, and names the file where that fails.
template <typename Parse>
auto parsed(const std::string& path, size_t limit, Parse parse)
    -> decltype(parse(std::string_view())) {
  const Result<std::string> text = read_bounded(path, limit);
  if (!text) return std::unexpected(text.error());
  auto value = parse(*text);
  if (!value) return fail("{}: {}", path, value.error().message);
  return value;
}

}  // namespace

uint64_t load_bias(const MappedImage& image, uint64_t first_load_address,
                   uint64_t first_load_file_offset) {
  // Unsigned arithmetic wraps, which is right: only the sum with an address has to make sense.
  return image.lowest_start - image.lowest_file_offset + first_load_file_offset -
         first_load_address;
}

Result<std::vector<pid_t>> ProcFs::list_pids() const { return list_numbers(root_, max_processes); }

Result<std::vector<pid_t>> ProcFs::threads(pid_t pid) const {
  return list_numbers(path_of(pid, "task"), max_threads);
}

Result<ProcessStat> ProcFs::process_stat(pid_t pid) const {
  return parsed(path_of(pid, "stat"), max_small_file, parse_process_stat);
}

Result<uint64_t> ProcFs::start_time_ticks(pid_t pid) const {
  const Result<ProcessStat> stat = process_stat(pid);
  if (!stat) return std::unexpected(stat.error());
  return stat->start_time_ticks;
}

Result<std::string> ProcFs::comm(pid_t pid) const {
  Result<std::string> text = read_bounded(path_of(pid, "comm"), max_small_file);
  if (text && text->ends_with('\n')) text->pop_back();
  return text;
}

Result<std::vector<std::string>> ProcFs::command_line(pid_t pid) const {
  const Result<std::string> text = read_bounded(path_of(pid, "cmdline"), max_command_line);
  if (!text) return std::unexpected(text.error());
  return split_arguments(*text);
}

Result<std::string> ProcFs::cgroup(pid_t pid) const {
  return read_bounded(path_of(pid, "cgroup"), max_cgroup);
}

Result<std::vector<MappedImage>> ProcFs::mapped_images(pid_t pid) const {
  ImageCollector collector;
  const Result<void> done = for_each_line(path_of(pid, "maps"), max_maps,
                                          [&](std::string_view line) { collector.add_line(line); });
  if (!done) return std::unexpected(done.error());
  return collector.take();
}

Result<std::optional<BlockedSyscall>> ProcFs::blocked_syscall(pid_t pid, pid_t tid) const {
  return parsed(path_of(pid, tid, "syscall"), max_small_file, parse_syscall);
}

Result<ThreadTimes> ProcFs::thread_times(pid_t pid, pid_t tid) const {
  return parsed(path_of(pid, tid, "schedstat"), max_small_file, parse_schedstat);
}

std::string ProcFs::exe_path(pid_t pid) const { return path_of(pid, "exe"); }

std::string ProcFs::map_files_path(pid_t pid, uint64_t start, uint64_t end) const {
  return fmt::format("{}/{}/map_files/{:x}-{:x}", root_, pid, start, end);
}

std::string ProcFs::root_path(pid_t pid, std::string_view path) const {
  return fmt::format("{}/{}/root{}", root_, pid, path);
}

std::string ProcFs::path_of(pid_t pid, std::string_view file) const {
  return fmt::format("{}/{}/{}", root_, pid, file);
}

std::string ProcFs::path_of(pid_t pid, pid_t tid, std::string_view file) const {
  return fmt::format("{}/{}/task/{}/{}", root_, pid, tid, file);
}

}  // namespace uvtap
