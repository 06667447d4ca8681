// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/http_server.h"

#include <spdlog/spdlog.h>
#include <sys/prctl.h>

#include <array>
#include <utility>

#include "userspace/util/capabilities.h"
#include "userspace/util/monotonic_clock.h"
#include "userspace/util/signals_blocked.h"

namespace uvtap {
namespace {

constexpr unsigned thread_count = 2;
/// Each thread has half of them.
constexpr unsigned connection_places = 64;
/// Below connection_places, so that there is always one for whoever comes next.
constexpr ConnectionLimits connection_limits{
    .connections = 48,
    .body_bytes = 16'000'000,       // four scrapes of 250 processes
    .lifetime_ns = 10'000'000'000,  // as long as Prometheus waits for a scrape
};
constexpr unsigned silence_limit_seconds = 5;
/// Holds a request's head; a larger one is answered with an error.
constexpr size_t connection_memory_bytes = 8192;
constexpr const char* tls_versions = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

constexpr unsigned plain_flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC;
constexpr unsigned tls_flags = plain_flags | MHD_USE_TLS;

MHD_OptionItem option(MHD_OPTION name, const char* text) {
  return {name, 0, const_cast<char*>(text)};  // the library only reads it
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const ListenAddress& address,
                                                      HttpHandler handler,
                                                      std::optional<TlsFiles> tls) {
  if (tls && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
    return fail("this build of libmicrohttpd has no TLS; leave out --tls-certificate");
  auto listener = listen_on(address);
  if (!listener) return std::unexpected(listener.error());
  const auto port = listening_port(listener->get());
  if (!port) return std::unexpected(port.error());
  std::unique_ptr<HttpServer> server(new HttpServer(*port, std::move(handler), std::move(tls)));
  server->start_threads(std::move(*listener));
  if (server->daemon_ == nullptr) return fail("cannot serve on {}", to_string(address));
  return server;
}

HttpServer::HttpServer(uint16_t port, HttpHandler handler, std::optional<TlsFiles> tls)
    : port_(port),
      exchange_{.handler = std::move(handler), .connections = HttpConnections(connection_limits)},
      tls_(std::move(tls)) {}

HttpServer::~HttpServer() {
  keeper_ = {};  // stops it and waits for its end
  stop_retired();
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

/// Threads inherit the signals and capabilities of the one that starts them: none.
void HttpServer::start_threads(UniqueFd listener) {
  const SignalsBlocked blocked;
  std::thread([&] {
    if (!drop_all_in_this_thread()) return;
    daemon_ = start_daemon(listener.get());
    if (daemon_ == nullptr) return;
    static_cast<void>(listener.release());
    keeper_ = std::jthread([this](const std::stop_token& stop) { keep(stop); });
  }).join();
}

MHD_Daemon* HttpServer::start_daemon(int listener) {
  std::array tls_options = {
      MHD_OptionItem{MHD_OPTION_END, 0, nullptr}, MHD_OptionItem{MHD_OPTION_END, 0, nullptr},
      MHD_OptionItem{MHD_OPTION_END, 0, nullptr}, MHD_OptionItem{MHD_OPTION_END, 0, nullptr}};
  if (tls_) {
    tls_options[0] = option(MHD_OPTION_HTTPS_MEM_CERT, tls_->certificate().c_str());
    tls_options[1] = option(MHD_OPTION_HTTPS_MEM_KEY, tls_->key().c_str());
    tls_options[2] = option(MHD_OPTION_HTTPS_PRIORITIES, tls_versions);
  }
  return MHD_start_daemon(tls_ ? tls_flags : plain_flags, 0, nullptr, nullptr,            //
                          &on_http_request, &exchange_,                                   //
                          MHD_OPTION_NOTIFY_CONNECTION, &on_http_connection, &exchange_,  //
                          MHD_OPTION_LISTEN_SOCKET, listener,                             //
                          MHD_OPTION_THREAD_POOL_SIZE, thread_count,                      //
                          MHD_OPTION_CONNECTION_LIMIT, connection_places,                 //
                          MHD_OPTION_CONNECTION_TIMEOUT, silence_limit_seconds,           //
                          MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory_bytes,    //
                          MHD_OPTION_ARRAY, tls_options.data(), MHD_OPTION_END);
}

void HttpServer::keep(const std::stop_token& stop) {
  prctl(PR_SET_NAME, "http_keeper");
  while (!stop.stop_requested()) {
    exchange_.connections.close_overdue();
    if (monotonic_now_ns() > retired_until_ns_) stop_retired();
    if (tls_ && daemon_ != nullptr && tls_->changed()) renew_certificate();
    exchange_.connections.await_work(stop);
  }
}

/// The listening socket goes from one daemon to the next, and the last one serves its connections
/// to their end: nobody notices.
void HttpServer::renew_certificate() {
  if (auto renewed = tls_->renew(); !renewed) {
    spdlog::warn("{}; the last one stays in use", renewed.error().message);
    return;
  }
  stop_retired();
  const int listener = MHD_quiesce_daemon(daemon_);
  retired_ = std::exchange(daemon_, start_daemon(listener));
  retired_until_ns_ = monotonic_now_ns() + connection_limits.lifetime_ns;
  spdlog::info("the TLS certificate was read again: its file has changed");
}

void HttpServer::stop_retired() {
  if (retired_ != nullptr) MHD_stop_daemon(std::exchange(retired_, nullptr));
}

}  // namespace uvtap
