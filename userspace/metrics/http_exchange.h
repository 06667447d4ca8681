// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <microhttpd.h>

#include "userspace/metrics/http_connections.h"
#include "userspace/metrics/http_handler.h"

namespace uvtap {

/// What libmicrohttpd calls back with.
struct HttpExchange {
  HttpHandler handler;
  HttpConnections connections;
};

// The callbacks. `exchange` is an HttpExchange.

/// A connection was opened or is about to be closed.
void on_http_connection(void* exchange, MHD_Connection* connection, void** state,
                        MHD_ConnectionNotificationCode code);
/// The head of a request has come. It is answered at once: a body is never read.
MHD_Result on_http_request(void* exchange, MHD_Connection* connection, const char* path,
                           const char* method, const char* version, const char* upload,
                           size_t* upload_bytes, void** state);

}  // namespace uvtap
