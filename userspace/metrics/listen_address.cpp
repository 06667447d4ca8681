// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/listen_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>

namespace uvtap {
namespace {

constexpr int backlog = 64;

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

std::optional<uint16_t> parse_port(std::string_view text) {
  uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || stop != end) return std::nullopt;
  return port;
}

Result<AddressList> resolve(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return fail("{}", ::gai_strerror(error));
  return AddressList(found, &::freeaddrinfo);
}

/// Binds the first address of the list; on failure errno says why.
std::optional<UniqueFd> bind_first(const addrinfo& address) {
  UniqueFd socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return std::nullopt;
  const int on = 1;
  const int off = 0;
  // A restarted daemon must not wait for its old connections to time out.
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.ai_family == AF_INET6) {
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  if (::bind(socket.get(), address.ai_addr, address.ai_addrlen) != 0) return std::nullopt;
  if (::listen(socket.get(), backlog) != 0) return std::nullopt;
  return socket;
}

Result<UniqueFd> listen_at(const ListenAddress& address) {
  const auto addresses = resolve(address.host, address.port);
  if (!addresses) {
    return fail("cannot listen on {}: {}", to_string(address), addresses.error().message);
  }
  std::optional<UniqueFd> socket = bind_first(**addresses);
  if (socket) return std::move(*socket);
  const int error = errno;
  if (error == EADDRINUSE) {
    return fail("cannot listen on {}: address in use; choose another with --listen",
                to_string(address));
  }
  return fail_errno(error, "cannot listen on {}", to_string(address));
}

bool is_ipv6_available() {
  return UniqueFd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)).valid();
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  const bool ambiguous = !bracketed && host.contains(':');
  const auto port =
      colon == std::string_view::npos ? std::nullopt : parse_port(text.substr(colon + 1));
  if (!port || ambiguous || (bracketed && host.empty())) {
    return fail("cannot listen on \"{}\": expected HOST:PORT, [IPV6]:PORT or :PORT", text);
  }
  return ListenAddress{.host = std::string(host), .port = *port};
}

std::string to_string(const ListenAddress& address) {
  if (address.host.contains(':')) return fmt::format("[{}]:{}", address.host, address.port);
  return fmt::format("{}:{}", address.host, address.port);
}

bool is_loopback(const ListenAddress& address) {
  in_addr ipv4{};
  if (::inet_pton(AF_INET, address.host.c_str(), &ipv4) == 1)
    return ntohl(ipv4.s_addr) >> 24 == IN_LOOPBACKNET;
  in6_addr ipv6{};
  return ::inet_pton(AF_INET6, address.host.c_str(), &ipv6) == 1 && IN6_IS_ADDR_LOOPBACK(&ipv6);
}

Result<UniqueFd> listen_on(const ListenAddress& address) {
  if (!address.host.empty()) return listen_at(address);
  // One IPv6 socket takes IPv4 as well.
  const std::string any = is_ipv6_available() ? "::" : "0.0.0.0";
  return listen_at({.host = any, .port = address.port});
}

Result<uint16_t> listening_port(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return fail_errno(errno, "cannot tell which port is listened on");
  }
  const in_port_t port = address.ss_family == AF_INET6
                             ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port;
  return ntohs(port);
}

}  // namespace uvtap
