// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "userspace/metrics/container_metrics.h"
#include "userspace/metrics/self_metrics.h"

namespace uvtap {

/// What one tick publishes.
struct MetricsContent {
  std::vector<ContainerMetrics> containers;
  SelfMetrics self;
};

/// Holds the latest tick's metrics for any number of scrapers. Publishing swaps a pointer; the
/// text is made by the scrape, so a tick that nobody looks at costs nothing here, and a
/// scrape never keeps a tick waiting.
class MetricsPage {
 public:
  void publish(MetricsContent content);

  /// In Prometheus's text format. Nothing but process_* before the first publish().
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::shared_ptr<const MetricsContent> latest() const;

  mutable std::mutex mutex_;  ///< held for the swap alone
  std::shared_ptr<const MetricsContent> latest_;
  mutable std::atomic<size_t> last_text_bytes_ = 0;
};

}  // namespace uvtap
