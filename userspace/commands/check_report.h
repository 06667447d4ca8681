// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  std::string remedy;  ///< what would help; empty where nothing is wrong
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

/// A set of capabilities, one bit each, as linux/capability.h numbers them.
using Capabilities = uint64_t;
[[nodiscard]] bool has_capability(Capabilities held, int capability);
/// The effective ones, from the text of /proc/PID/status.
[[nodiscard]] std::optional<Capabilities> parse_capabilities(std::string_view status);
/// Those that uvtap wants and that are not there; CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON.
[[nodiscard]] std::vector<std::string_view> missing_capabilities(Capabilities held);
/// Whether perf_event_paranoid has no say.
[[nodiscard]] bool may_use_perf(Capabilities held);

}  // namespace uvtap
