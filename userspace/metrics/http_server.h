// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include "userspace/metrics/http_exchange.h"
#include "userspace/metrics/http_handler.h"
#include "userspace/metrics/listen_address.h"
#include "userspace/metrics/tls_files.h"
#include "userspace/util/result.h"

namespace uvtap {

/// A web server for pages that are only read: GET and HEAD, one request per connection, by TLS if
/// it has a certificate. How many connections there are, how large their requests and answers, how
/// long their silence and how long they last is bounded.
class HttpServer {
 public:
  /// Listens, and serves until it is destroyed. The threads take no signals and
  /// hold no capabilities.
  static Result<std::unique_ptr<HttpServer>> start(const ListenAddress& address,
                                                   HttpHandler handler,
                                                   std::optional<TlsFiles> tls = std::nullopt);
  /// Breaks off what is being served and returns at once.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] uint16_t port() const { return port_; }

 private:
  HttpServer(uint16_t port, HttpHandler handler, std::optional<TlsFiles> tls);

  void start_threads(UniqueFd listener);
  /// Takes over the listening socket if it succeeds; null otherwise.
  [[nodiscard]] MHD_Daemon* start_daemon(int listener);
  /// What the keeper does: it closes what is overdue and renews the certificate.
  void keep(const std::stop_token& stop);
  void renew_certificate();
  void stop_retired();

  uint16_t port_;
  HttpExchange exchange_;
  std::optional<TlsFiles> tls_;
  // Once the keeper runs, only the keeper changes these.
  MHD_Daemon* daemon_ = nullptr;
  MHD_Daemon* retired_ = nullptr;  ///< has the last certificate, and takes no new connections
  uint64_t retired_until_ns_ = 0;
  std::jthread keeper_;
};

}  // namespace uvtap
