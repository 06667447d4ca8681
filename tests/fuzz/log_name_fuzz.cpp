// SPDX-License-Identifier: Apache-2.0
// The names of files in /var/log/containers.
#include <fmt/core.h>

#include "tests/fuzz/fuzz.h"
#include "userspace/identity/container_id.h"
#include "userspace/identity/container_logs.h"
#include "userspace/metrics/label_value.h"

using namespace uvtap;
using fuzz::require;

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view name = fuzz::Input(data, size).text();
  const auto named = parse_log_name(name);
  if (!named) return 0;
  const auto& [id, identity] = *named;
  require(fmt::format("{}_{}_{}-{}.log", identity.pod, identity.namespace_, identity.container,
                      id) == name,
          "the parts, put together, are the name");
  require(is_container_id(id), "an id");
  for (const std::string* part : {&identity.pod, &identity.namespace_, &identity.container})
    require(!part->empty() && label_value(*part) == *part, "a label as it is");
  require(identity.process.empty() && identity.workload.empty(), "nothing else is known");
  return 0;
}
