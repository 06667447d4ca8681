// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "userspace/metrics/http_response.h"
#include "userspace/metrics/listen_address.h"
#include "userspace/util/result.h"

struct MHD_Daemon;

namespace uvtap {

/// Answers a path. Called by several threads at a time.
using HttpHandler = std::function<HttpResponse(std::string_view path)>;

/// A web server for pages that are only read: GET and HEAD, one request per connection. How many
/// connections there are, how large their requests and how long their silence is bounded.
class HttpServer {
 public:
  /// Listens, and serves until it is destroyed. The threads take no signals and
  /// hold no capabilities.
  static Result<std::unique_ptr<HttpServer>> start(const ListenAddress& address,
                                                   HttpHandler handler);
  /// Breaks off what is being served and returns at once.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] uint16_t port() const { return port_; }

 private:
  HttpServer(uint16_t port, HttpHandler handler);

  uint16_t port_;
  HttpHandler handler_;
  MHD_Daemon* daemon_ = nullptr;
};

}  // namespace uvtap
