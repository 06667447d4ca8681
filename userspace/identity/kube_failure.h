// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace uvtap {

/// Why a request to the API server failed. `stopped` is not the server's: we are ending.
enum class KubeReason {
  credentials,   ///< no readable token
  unreachable,   ///< no connection
  tls,           ///< a connection, but not to whom the CA vouches for
  timeout,       ///< no answer in time
  disconnected,  ///< an answer that broke off
  unauthorized,  ///< 401
  forbidden,     ///< 403
  gone,          ///< 410: the version to go on from has been forgotten
  http,          ///< any other status but 200
  malformed,     ///< not the JSON that was asked for
  too_large,     ///< beyond what uvtap is willing to read
  stopped,
};

inline constexpr std::array<std::string_view, static_cast<size_t>(KubeReason::stopped)>
    kube_reason_names = {"credentials",  "unreachable",  "tls",       "timeout",
                         "disconnected", "unauthorized", "forbidden", "gone",
                         "http",         "malformed",    "too_large"};

struct KubeFailure {
  KubeReason reason;
  std::string message;  ///< one line, for a person
};

template <typename T>
using KubeResult = std::expected<T, KubeFailure>;

[[nodiscard]] inline std::unexpected<KubeFailure> kube_fail(KubeReason reason,
                                                            std::string message) {
  return std::unexpected(KubeFailure{reason, std::move(message)});
}

}  // namespace uvtap
