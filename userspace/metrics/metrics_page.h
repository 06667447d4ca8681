// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <memory>
#include <mutex>
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
/// families are built by the scrape, so a tick that nobody looks at costs nothing here, and a
/// scrape never keeps a tick waiting.
class MetricsPage : public prometheus::Collectable {
 public:
  void publish(MetricsContent content);

  /// Nothing but process_* before the first publish().
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  [[nodiscard]] std::shared_ptr<const MetricsContent> latest() const;

  mutable std::mutex mutex_;  ///< held for the swap alone
  std::shared_ptr<const MetricsContent> latest_;
};

}  // namespace uvtap
