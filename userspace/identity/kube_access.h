// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace uvtap {

/// Where the API server is, and as whom to speak to it.
struct KubernetesAccess {
  std::string host;  ///< a name or an address, IPv6 without brackets
  uint16_t port = 443;
  std::string credentials_dir;  ///< holds `token`, which is rotated, and `ca.crt`
  std::string node_name;        ///< only pods of this node are asked for
};

/// How long to wait for the API server. The defaults are meant for real ones; tests are faster.
struct KubernetesPatience {
  std::chrono::milliseconds connect{10'000};
  std::chrono::milliseconds answer{30'000};   ///< until an answer begins
  std::chrono::milliseconds silence{20'000};  ///< within a list
  std::chrono::milliseconds list{120'000};    ///< for a whole list
  /// The server ends a watch after this long; `answer` later it is given up.
  std::chrono::seconds watch{300};
  /// A watch that is quiet for this long after its beginning works.
  std::chrono::milliseconds settle{2'000};
  std::chrono::milliseconds first_retry{1'000};
  std::chrono::milliseconds last_retry{30'000};
};

}  // namespace uvtap
