// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/metrics_page.h"

#include <utility>

#include "userspace/metrics/exposition.h"
#include "userspace/metrics/own_process.h"

namespace uvtap {

void MetricsPage::publish(MetricsContent content) {
  auto next = std::make_shared<const MetricsContent>(std::move(content));
  const std::lock_guard lock(mutex_);
  latest_.swap(next);
  // What was published before is freed after the lock is: `next` was declared first.
}

std::shared_ptr<const MetricsContent> MetricsPage::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

std::string MetricsPage::text() const {
  // A little more than last time: a text that outgrows its room is copied.
  const size_t last_bytes = last_text_bytes_;
  Families families(last_bytes + (last_bytes / 16));
  if (const auto content = latest()) {
    add_container_families(families, content->containers);
    add_self_families(families, content->self);
  }
  if (const auto process = read_own_process()) add_process_families(families, *process);
  last_text_bytes_ = families.text().size();
  return std::move(families).take_text();
}

}  // namespace uvtap
