// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "userspace/metrics/http_handler.h"
#include "userspace/metrics/metrics_page.h"

namespace uvtap {

/// Why something is not all right, in one line; nothing when it is. Called by several threads.
using Complaint = std::function<std::optional<std::string>()>;

/// What uvtap serves: /metrics, /healthz, /readyz, and a page at / that links them.
class HttpPages {
 public:
  /// `metrics` must outlive this.
  HttpPages(const MetricsPage& metrics, Complaint unhealthy, Complaint unready);

  /// An HttpHandler.
  [[nodiscard]] HttpResponse operator()(const HttpRequest& request) const;

 private:
  const MetricsPage* metrics_;
  Complaint unhealthy_;
  Complaint unready_;
};

}  // namespace uvtap
