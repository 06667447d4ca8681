// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/http_server.h"

#include <microhttpd.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "userspace/util/capabilities.h"
#include "userspace/util/signals_blocked.h"

namespace uvtap {
namespace {

constexpr unsigned thread_count = 2;
constexpr unsigned connection_limit = 64;
/// One client alone must not keep the others out.
constexpr unsigned connection_limit_per_client = 32;
constexpr unsigned silence_limit_seconds = 5;
/// Holds a request's head; a larger one is answered with an error.
constexpr size_t connection_memory_bytes = 8192;

MHD_Result send_response(MHD_Connection* connection, const HttpResponse& response) {
  // The library copies the body and does not write to it.
  MHD_Response* message = MHD_create_response_from_buffer(
      response.body.size(), const_cast<char*>(response.body.data()), MHD_RESPMEM_MUST_COPY);
  if (message == nullptr) return MHD_NO;
  MHD_add_response_header(message, "Content-Type", response.content_type.c_str());
  MHD_add_response_header(message, "Connection", "close");
  if (response.status == MHD_HTTP_METHOD_NOT_ALLOWED) {
    MHD_add_response_header(message, "Allow", "GET, HEAD");
  }
  const MHD_Result queued = MHD_queue_response(connection, response.status, message);
  MHD_destroy_response(message);
  return queued;
}

HttpResponse answer(const HttpHandler& handler, std::string_view method, std::string_view path) {
  if (method == "GET" || method == "HEAD") return handler(path);
  return {.status = MHD_HTTP_METHOD_NOT_ALLOWED, .body = "only GET and HEAD\n"};
}

MHD_Result on_request(void* handler, MHD_Connection* connection, const char* path,
                      const char* method, const char* /*version*/, const char* /*upload*/,
                      size_t* /*upload_bytes*/, void** /*request_state*/) {
  return send_response(connection, answer(*static_cast<HttpHandler*>(handler), method, path));
}

MHD_Daemon* start_daemon(HttpHandler* handler, int listener) {
  return MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, nullptr, nullptr, &on_request, handler,  //
      MHD_OPTION_LISTEN_SOCKET, listener,                                                      //
      MHD_OPTION_THREAD_POOL_SIZE, thread_count,                                               //
      MHD_OPTION_CONNECTION_LIMIT, connection_limit,                                           //
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, connection_limit_per_client,                         //
      MHD_OPTION_CONNECTION_TIMEOUT, silence_limit_seconds,                                    //
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory_bytes, MHD_OPTION_END);
}

/// Serves on a listening socket, which the daemon closes in the end. Its threads inherit the
/// signals and capabilities of the thread that starts them: none.
MHD_Daemon* start_unprivileged_daemon(HttpHandler* handler, int listener) {
  const SignalsBlocked blocked;
  MHD_Daemon* daemon = nullptr;
  std::thread([&] {
    if (drop_all_in_this_thread()) daemon = start_daemon(handler, listener);
  }).join();
  return daemon;
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const ListenAddress& address,
                                                      HttpHandler handler) {
  auto listener = listen_on(address);
  if (!listener) return std::unexpected(listener.error());
  const auto port = listening_port(listener->get());
  if (!port) return std::unexpected(port.error());
  std::unique_ptr<HttpServer> server(new HttpServer(*port, std::move(handler)));
  server->daemon_ = start_unprivileged_daemon(&server->handler_, listener->release());
  if (server->daemon_ == nullptr) return fail("cannot serve on {}", to_string(address));
  return server;
}

HttpServer::HttpServer(uint16_t port, HttpHandler handler)
    : port_(port), handler_(std::move(handler)) {}

HttpServer::~HttpServer() {
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

}  // namespace uvtap
