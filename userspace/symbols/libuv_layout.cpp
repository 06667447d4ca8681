// SPDX-License-Identifier: Apache-2.0
#include "userspace/symbols/libuv_layout.h"

#include <algorithm>
#include <array>

namespace uvtap {
namespace {

/// Versions first_minor to last_minor of libuv 1.x, whatever their patch number.
struct KnownVersions {
  uint8_t first_minor;
  uint8_t last_minor;
  LibuvLayout layout;
};

// Provenance: offsetof compiled against include/ and src/uv-common.h of each release tag of libuv,
// x86-64 Linux. `scripts/libuv-layout LIBUV_SOURCE_FOLDER` prints a version's offsets; when a new
// version prints the same as the last row, raise the row's last_minor, else add a row.
//
// uv_loop_t has kept its places since 1.28; internal_fields came with 1.39. In 1.45 a uv_metrics_t
// (128 bytes, the first field loop_count) went before the two idle counters.
constexpr std::array known_versions{
    KnownVersions{.first_minor = 39,
                  .last_minor = 44,
                  .layout = {.entry_time = 8, .idle_time = 16, .loop_count = 0}},
    KnownVersions{.first_minor = 45,
                  .last_minor = 52,
                  .layout = {.entry_time = 136, .idle_time = 144, .loop_count = 8}},
};

}  // namespace

std::string to_string(LibuvVersion version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

Result<LibuvLayout> libuv_layout(LibuvVersion version) {
  const auto* const known =
      std::ranges::find_if(known_versions, [version](const KnownVersions& range) {
        return version.major == 1 && version.minor >= range.first_minor &&
               version.minor <= range.last_minor;
      });
  if (known != known_versions.end()) return known->layout;
  return fail("libuv {} has an unknown layout; uvtap knows 1.{} to 1.{}", to_string(version),
              known_versions.front().first_minor, known_versions.back().last_minor);
}

}  // namespace uvtap
