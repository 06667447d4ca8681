// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/kube_request.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "userspace/util/unique_fd.h"

namespace uvtap {
namespace {

constexpr size_t max_name_bytes = 253;  // of a DNS name, which a node's is too
constexpr size_t max_token_bytes = 16384;

bool is_letter_or_digit(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9');
}

bool belongs_to_host(char byte) {
  return is_letter_or_digit(byte) || std::string_view(".-:").contains(byte);
}

/// What of ASCII is visible.
bool belongs_to_token(char byte) { return byte > ' ' && byte < 0x7F; }

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char byte : text) {
    if (is_letter_or_digit(byte) || std::string_view("-._~").contains(byte))
      encoded += byte;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(byte));
  }
  return encoded;
}

std::string pods_of(std::string_view node_name) {
  return "/api/v1/pods?fieldSelector=" +
         percent_encoded(fmt::format("spec.nodeName={}", node_name));
}

/// At most one byte more than a token may have.
Result<std::string> read_beginning(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) return fail_errno(errno, "{}", path);
  std::string text(max_token_bytes + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0) return fail_errno(errno, "{}", path);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace

Result<std::string> kube_base_url(const KubernetesAccess& access) {
  const std::string& host = access.host;
  if (host.empty() || host.size() > max_name_bytes || !std::ranges::all_of(host, belongs_to_host))
    return fail("\"{}\" is not a host: set KUBERNETES_SERVICE_HOST to a name or an address", host);
  const bool is_ipv6 = host.contains(':');
  return fmt::format("https://{}{}{}:{}", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "",
                     access.port);
}

bool is_node_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name_bytes && std::ranges::all_of(name, [](char byte) {
    return is_letter_or_digit(byte) || byte == '.' || byte == '-';
  });
}

std::string list_request(std::string_view node_name, bool newest) {
  return pods_of(node_name) + (newest ? "" : "&resourceVersion=0");
}

std::string watch_request(std::string_view node_name, std::string_view version,
                          std::chrono::seconds duration) {
  return pods_of(node_name) +
         fmt::format("&watch=true&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}",
                     percent_encoded(version), duration.count());
}

Result<std::string> read_token(const std::string& path) {
  auto token = read_beginning(path);
  if (!token) return token;
  while (!token->empty() && std::string_view(" \r\n").contains(token->back())) token->pop_back();
  if (token->empty() || token->size() > max_token_bytes ||
      !std::ranges::all_of(*token, belongs_to_token))
    return fail("{} does not hold the token of a service account", path);
  return token;
}

}  // namespace uvtap
