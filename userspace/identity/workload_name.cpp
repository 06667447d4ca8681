// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/workload_name.h"

#include <charconv>
#include <cstdint>
#include <optional>

namespace uvtap {
namespace {

// A CronJob names its Jobs after the moment they were due (getJobName in Kubernetes'
// pkg/controller/cronjob): Unix time in minutes since 1.21, in seconds before. The Job is all we
// see without permission to read Jobs, and people too end names in digits: "import-2024" and
// "import-20240115" are Jobs of their own. So the digits have to be a possible moment, and the
// ranges are chosen such that neither YYYYMMDD nor YYYYMMDDHH falls into them. A Job that a person
// names after DDMMYYYY, on the 27th or later, is mistaken for that of a CronJob.
constexpr uint64_t first_minute = 26'800'000;     // December 2020, before 1.21
constexpr uint64_t last_minute = 99'999'999;      // 2160
constexpr uint64_t first_second = 1'400'000'000;  // May 2014, before Kubernetes
constexpr uint64_t last_second = 1'999'999'999;   // May 2033, long after 1.21

bool is_moment_of_a_run(std::string_view digits) {
  if (digits.empty() || digits.front() == '0') return false;
  uint64_t value = 0;
  const auto* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stopped != end) return false;
  return (value >= first_minute && value <= last_minute) ||
         (value >= first_second && value <= last_second);
}

struct Parts {
  std::string_view before;
  std::string_view after;
};

/// At the last dash; nothing where one side would be empty.
std::optional<Parts> split_at_last_dash(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0 || dash + 1 == name.size()) return std::nullopt;
  return Parts{.before = name.substr(0, dash), .after = name.substr(dash + 1)};
}

}  // namespace

Workload workload_behind(std::string_view owner_kind, std::string_view owner_name,
                         std::string_view template_hash) {
  if (owner_kind == "Node") return {};
  const auto parts = split_at_last_dash(owner_name);
  if (parts && owner_kind == "ReplicaSet" && parts->after == template_hash)
    return {.kind = "Deployment", .name = std::string(parts->before)};
  if (parts && owner_kind == "Job" && is_moment_of_a_run(parts->after))
    return {.kind = "CronJob", .name = std::string(parts->before)};
  return {.kind = std::string(owner_kind), .name = std::string(owner_name)};
}

}  // namespace uvtap
