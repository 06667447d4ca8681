// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/connection_book.h"

#include <algorithm>
#include <utility>

namespace uvtap {

std::optional<int> ConnectionBook::add(int socket, std::string client, uint64_t now_ns) {
  connections_[socket] = {.client = std::move(client),
                          .number = next_number_++,
                          .due_ns = now_ns + limits_.lifetime_ns};
  constexpr Weight one = [](const Connection&) { return size_t{1}; };
  if (total(one) <= limits_.connections) return std::nullopt;
  return close_one(one);
}

std::optional<int> ConnectionBook::add_body(int socket, size_t bytes) {
  const auto found = connections_.find(socket);
  if (found == connections_.end()) return std::nullopt;
  found->second.body_bytes += bytes;
  constexpr Weight body = [](const Connection& connection) { return connection.body_bytes; };
  const size_t all = total(body);
  if (all <= limits_.body_bytes || all == bytes) return std::nullopt;
  return close_one(body);
}

std::vector<int> ConnectionBook::overdue(uint64_t now_ns) {
  std::vector<int> found;
  for (auto& [socket, connection] : connections_) {
    if (connection.closing || connection.due_ns > now_ns) continue;
    connection.closing = true;
    found.push_back(socket);
  }
  return found;
}

void ConnectionBook::remove(int socket) { connections_.erase(socket); }

std::optional<uint64_t> ConnectionBook::next_due_ns() const {
  std::optional<uint64_t> next;
  for (const auto& [socket, connection] : connections_) {
    if (!connection.closing) next = std::min(next.value_or(connection.due_ns), connection.due_ns);
  }
  return next;
}

size_t ConnectionBook::total(Weight weight) const {
  size_t sum = 0;
  for (const auto& [socket, connection] : connections_) {
    if (!connection.closing) sum += weight(connection);
  }
  return sum;
}

std::optional<int> ConnectionBook::close_one(Weight weight) {
  std::map<std::string, size_t> taken;
  for (const auto& [socket, connection] : connections_) {
    if (!connection.closing) taken[connection.client] += weight(connection);
  }
  auto chosen = connections_.end();
  for (auto each = connections_.begin(); each != connections_.end(); ++each) {
    const Connection& candidate = each->second;
    if (candidate.closing || weight(candidate) == 0) continue;
    const auto rank = [&](const Connection& of) { return std::pair(taken[of.client], ~of.number); };
    if (chosen == connections_.end() || rank(candidate) > rank(chosen->second)) chosen = each;
  }
  if (chosen == connections_.end()) return std::nullopt;
  chosen->second.closing = true;
  return chosen->first;
}

}  // namespace uvtap
