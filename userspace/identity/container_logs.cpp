// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/container_logs.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "userspace/identity/container_id.h"

namespace uvtap {
namespace {

/// A node runs a few hundred containers.
constexpr size_t max_names = 10'000;
constexpr uint64_t list_interval_ns = 1'000'000'000;

constexpr size_t longest_name = 253;

/// Characters of a DNS subdomain: there is no '_' among them.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_name && std::ranges::all_of(text, [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '-' ||
           each == '.';
  });
}

}  // namespace

std::optional<NamedContainer> parse_log_name(std::string_view name) {
  constexpr std::string_view suffix = ".log";
  if (!name.ends_with(suffix)) return std::nullopt;
  name.remove_suffix(suffix.size());
  const size_t first = name.find('_');
  const size_t second = name.find('_', first + 1);
  const size_t dash = name.rfind('-');
  if (first == std::string_view::npos || second == std::string_view::npos ||
      dash == std::string_view::npos || dash < second)
    return std::nullopt;
  const auto pod = name.substr(0, first);
  const auto space = name.substr(first + 1, second - first - 1);
  const auto container = name.substr(second + 1, dash - second - 1);
  const auto id = name.substr(dash + 1);
  if (!is_name(pod) || !is_name(space) || !is_name(container) || !is_container_id(id))
    return std::nullopt;
  NamedContainer named{.id = std::string(id), .identity = {}};
  named.identity.namespace_ = space;
  named.identity.pod = pod;
  named.identity.container = container;
  return named;
}

bool ContainerLogs::available() const { return access(directory_.c_str(), R_OK | X_OK) == 0; }

std::optional<PodIdentity> ContainerLogs::find(const std::string& container_id, uint64_t now_ns) {
  if (!by_id_.contains(container_id) && now_ns >= next_list_ns_) list(now_ns);
  const auto found = by_id_.find(container_id);
  if (found == by_id_.end()) return std::nullopt;
  return found->second;
}

void ContainerLogs::list(uint64_t now_ns) {
  next_list_ns_ = now_ns + list_interval_ns;
  by_id_.clear();
  std::error_code error;
  auto entry = std::filesystem::directory_iterator(directory_, error);
  for (; !error && entry != std::filesystem::end(entry); entry.increment(error)) {
    if (by_id_.size() >= max_names) return;
    if (auto named = parse_log_name(entry->path().filename().native()))
      by_id_[named->id] = std::move(named->identity);
  }
}

}  // namespace uvtap
