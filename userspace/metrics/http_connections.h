// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>

#include "userspace/metrics/connection_book.h"

struct sockaddr;

namespace uvtap {

/// The open sockets of a web server, under limits. Closing here is shutting down: the library that
/// owns the socket then finds the connection ended, and closes it. Used by several threads.
class HttpConnections {
 public:
  explicit HttpConnections(const ConnectionLimits& limits) : book_(limits) {}

  void opened(int socket, const sockaddr* client);
  /// To be called before the socket's number can be used again.
  void closed(int socket);
  /// An answer of this size is about to be sent.
  void answered(int socket, size_t body_bytes);

  void close_overdue();
  /// Returns when a connection was opened, when one is overdue, or when it is to stop.
  void await_work(const std::stop_token& stop);

 private:
  static void close(std::optional<int> socket);

  std::mutex mutex_;  ///< guards all
  std::condition_variable_any wake_;
  ConnectionBook book_;
  bool any_opened_ = false;
};

}  // namespace uvtap
