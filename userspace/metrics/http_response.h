// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace uvtap {

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

}  // namespace uvtap
