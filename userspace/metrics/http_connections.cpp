// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/http_connections.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <string>

#include "userspace/util/monotonic_clock.h"

namespace uvtap {
namespace {

/// Whoever has one IPv6 address has the other 2^64 of its network too.
constexpr size_t ipv6_network_bytes = 8;

std::string client_of(const sockaddr* address) {
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET) {
    const auto& ipv4 = *reinterpret_cast<const sockaddr_in*>(address);
    return {reinterpret_cast<const char*>(&ipv4.sin_addr), sizeof ipv4.sin_addr};
  }
  if (address->sa_family != AF_INET6) return {};
  const in6_addr& ipv6 = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  const bool holds_ipv4 = IN6_IS_ADDR_V4MAPPED(&ipv6);
  return {reinterpret_cast<const char*>(&ipv6), holds_ipv4 ? sizeof ipv6 : ipv6_network_bytes};
}

}  // namespace

void HttpConnections::close(std::optional<int> socket) {
  if (socket) ::shutdown(*socket, SHUT_RDWR);
}

void HttpConnections::opened(int socket, const sockaddr* client) {
  {
    const std::scoped_lock lock(mutex_);
    close(book_.add(socket, client_of(client), monotonic_now_ns()));
    any_opened_ = true;
  }
  wake_.notify_one();
}

void HttpConnections::closed(int socket) {
  const std::scoped_lock lock(mutex_);
  book_.remove(socket);
}

void HttpConnections::answered(int socket, size_t body_bytes) {
  const std::scoped_lock lock(mutex_);
  close(book_.add_body(socket, body_bytes));
}

void HttpConnections::close_overdue() {
  const std::scoped_lock lock(mutex_);
  for (const int socket : book_.overdue(monotonic_now_ns())) close(socket);
}

void HttpConnections::await_work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto any_opened = [this] { return any_opened_; };
  if (const auto due_ns = book_.next_due_ns()) {
    // steady_clock is CLOCK_MONOTONIC.
    const std::chrono::steady_clock::time_point due{std::chrono::nanoseconds(*due_ns)};
    wake_.wait_until(lock, stop, due, any_opened);
  } else {
    wake_.wait(lock, stop, any_opened);
  }
  any_opened_ = false;
}

}  // namespace uvtap
