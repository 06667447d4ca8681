// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace uvtap {

// What `uvtap check` says, and the texts that it reads: pure.

enum class Finding {
  ok,
  no,       ///< something is missing
  skipped,  ///< could not be tried, or does not matter
};

/// One line of the report.
struct CheckLine {
  Finding finding = Finding::skipped;
  std::string what;    ///< printable
  std::string why;     ///< printable
  std::string remedy;  ///< what would help; empty where nothing would
};

/// "ok  kernel   6.1.0-38-amd64", and what helps in a line below. All of it printable.
[[nodiscard]] std::string to_text(const CheckLine& line);

struct KernelVersion {
  unsigned major = 0;
  unsigned minor = 0;
  auto operator<=>(const KernelVersion&) const = default;
};
/// From uname's release, such as "6.1.0-38-amd64".
[[nodiscard]] std::optional<KernelVersion> parse_kernel_version(std::string_view release);

}  // namespace uvtap
