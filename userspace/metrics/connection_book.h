// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace uvtap {

/// What all clients of a server may take together.
struct ConnectionLimits {
  size_t connections = 0;
  size_t body_bytes = 0;     ///< answers on their way; a single one may be larger
  uint64_t lifetime_ns = 0;  ///< of a connection, whatever goes on in it
};

/// Which connections a server has, and which are to be closed so that whoever comes next is served.
/// Of the client that takes the most, the oldest goes: a flood displaces itself. Knows no sockets
/// but by number.
class ConnectionBook {
 public:
  explicit ConnectionBook(const ConnectionLimits& limits) : limits_(limits) {}

  /// Each returns what is to be closed for it, if anything. A connection is named once; it counts
  /// no more from then on, though it is in the book until remove().
  std::optional<int> add(int socket, std::string client, uint64_t now_ns);
  std::optional<int> add_body(int socket, size_t bytes);
  std::vector<int> overdue(uint64_t now_ns);
  void remove(int socket);

  /// When the next one is overdue.
  [[nodiscard]] std::optional<uint64_t> next_due_ns() const;

 private:
  struct Connection {
    std::string client;
    uint64_t number = 0;  ///< in the order in which they came
    uint64_t due_ns = 0;
    size_t body_bytes = 0;
    bool closing = false;
  };
  /// How much of what is short a connection takes.
  using Weight = size_t (*)(const Connection&);
  [[nodiscard]] size_t total(Weight weight) const;
  std::optional<int> close_one(Weight weight);

  ConnectionLimits limits_;
  uint64_t next_number_ = 0;
  std::map<int, Connection> connections_;  ///< by socket; some dozens
};

}  // namespace uvtap
