// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "userspace/metrics/http_response.h"

namespace uvtap {

/// What a page depends on. Nothing in it is to be believed: it comes from the network.
struct HttpRequest {
  std::string_view path;
  std::string_view authorization;  ///< the header's value; empty without one
};

/// Answers a request. Called by several threads at a time.
using HttpHandler = std::function<HttpResponse(const HttpRequest& request)>;

}  // namespace uvtap
