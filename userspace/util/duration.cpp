// SPDX-License-Identifier: Apache-2.0
#include "userspace/util/duration.h"

#include <array>
#include <charconv>
#include <limits>
#include <system_error>

namespace uvtap {

namespace {

struct Unit {
  std::string_view name;
  uint64_t ns;
};

constexpr std::array all_units = {
    Unit{"m", 60'000'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"ms", 1'000'000},
};

}  // namespace

Result<uint64_t> parse_duration_ns(std::string_view text) {
  uint64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc{}) return fail("'{}' is not a duration such as 15s, 500ms or 2m", text);
  const std::string_view unit_name(rest, end);
  for (const Unit& unit : all_units) {
    if (unit_name != unit.name) continue;
    if (count > std::numeric_limits<uint64_t>::max() / unit.ns)
      return fail("'{}' is too long", text);
    return count * unit.ns;
  }
  return fail("'{}' is not a duration such as 15s, 500ms or 2m", text);
}

}  // namespace uvtap
