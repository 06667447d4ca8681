// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/http_pages.h"

#include <string_view>
#include <utility>

namespace uvtap {
namespace {

constexpr std::string_view front_page = R"(<!DOCTYPE html>
<html lang="en">
<title>uvtap</title>
<h1>uvtap</h1>
<p>Watches every Node.js event loop of this machine from outside.</p>
<ul>
<li><a href="/metrics">/metrics</a>: the metrics, for Prometheus</li>
<li><a href="/healthz">/healthz</a>: whether uvtap is alive</li>
<li><a href="/readyz">/readyz</a>: whether it is ready</li>
</ul>
</html>
)";

HttpResponse metrics_response(const MetricsPage& metrics) {
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics.text()};
}

HttpResponse probe_response(const Complaint& complaint) {
  if (const auto reason = complaint()) return {.status = 503, .body = *reason + "\n"};
  return {.body = "ok\n"};
}

}  // namespace

HttpPages::HttpPages(const MetricsPage& metrics, Complaint unhealthy, Complaint unready)
    : metrics_(&metrics), unhealthy_(std::move(unhealthy)), unready_(std::move(unready)) {}

HttpResponse HttpPages::operator()(const HttpRequest& request) const {
  const std::string_view path = request.path;
  if (path == "/metrics") return metrics_response(*metrics_);
  if (path == "/healthz") return probe_response(unhealthy_);
  if (path == "/readyz") return probe_response(unready_);
  if (path == "/") {
    return {.content_type = "text/html; charset=utf-8", .body = std::string(front_page)};
  }
  return {.status = 404, .body = "not found\n"};
}

}  // namespace uvtap
