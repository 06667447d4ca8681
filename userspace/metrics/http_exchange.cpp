// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/http_exchange.h"

#include <string>
#include <string_view>
#include <utility>

namespace uvtap {
namespace {

int socket_of(MHD_Connection* connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

void free_body(void* body) { delete static_cast<std::string*>(body); }

/// The library holds the text until it is sent.
MHD_Response* make_message(std::string text) {
  auto* body = new std::string(std::move(text));
  MHD_Response* message = MHD_create_response_from_buffer_with_free_callback_cls(
      body->size(), body->data(), &free_body, body);
  if (message == nullptr) free_body(body);
  return message;
}

MHD_Result send_response(MHD_Connection* connection, HttpResponse response) {
  MHD_Response* message = make_message(std::move(response.body));
  if (message == nullptr) return MHD_NO;
  MHD_add_response_header(message, "Content-Type", response.content_type.c_str());
  MHD_add_response_header(message, "Connection", "close");
  if (response.status == MHD_HTTP_METHOD_NOT_ALLOWED)
    MHD_add_response_header(message, "Allow", "GET, HEAD");
  if (response.status == MHD_HTTP_UNAUTHORIZED)
    MHD_add_response_header(message, "WWW-Authenticate", "Bearer");
  const MHD_Result queued = MHD_queue_response(connection, response.status, message);
  MHD_destroy_response(message);
  return queued;
}

std::string_view header(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string_view() : value;
}

HttpResponse answer(const HttpHandler& handler, std::string_view method,
                    const HttpRequest& request) {
  if (method == "GET" || method == "HEAD") return handler(request);
  return {.status = MHD_HTTP_METHOD_NOT_ALLOWED, .body = "only GET and HEAD\n"};
}

}  // namespace

void on_http_connection(void* exchange, MHD_Connection* connection, void** /*state*/,
                        MHD_ConnectionNotificationCode code) {
  HttpConnections& connections = static_cast<HttpExchange*>(exchange)->connections;
  if (code == MHD_CONNECTION_NOTIFY_CLOSED) return connections.closed(socket_of(connection));
  const auto* client = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  connections.opened(socket_of(connection), client->client_addr);
}

MHD_Result on_http_request(void* exchange, MHD_Connection* connection, const char* path,
                           const char* method, const char* /*version*/, const char* /*upload*/,
                           size_t* /*upload_bytes*/, void** /*state*/) {
  auto& [handler, connections] = *static_cast<HttpExchange*>(exchange);
  HttpResponse response =
      answer(handler, method,
             {.path = path, .authorization = header(connection, MHD_HTTP_HEADER_AUTHORIZATION)});
  connections.answered(socket_of(connection), response.body.size());
  return send_response(connection, std::move(response));
}

}  // namespace uvtap
