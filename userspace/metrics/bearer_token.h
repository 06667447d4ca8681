// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "userspace/metrics/http_handler.h"
#include "userspace/util/log.h"
#include "userspace/util/result.h"
#include "userspace/util/secret_file.h"

namespace uvtap {

/// The token that a scraper must show, from a file that may change while uvtap runs. Used by
/// several threads.
class BearerToken {
 public:
  /// Fails on a file that does not hold one: 1 to 4,096 printable characters and a line's end.
  static Result<std::shared_ptr<BearerToken>> read(const std::string& path);

  /// Whether the value of an Authorization header carries the token. How long that takes does not
  /// tell how much of it is right. The file is read again when it has changed, looked at once a
  /// second; while it is not readable or holds none, the last token stays good.
  [[nodiscard]] bool accepts(std::string_view authorization);

 private:
  explicit BearerToken(std::string path) : path_(std::move(path)) {}
  Result<void> load();
  void renew(uint64_t now_ns);

  std::string path_;
  std::mutex mutex_;  ///< guards what follows
  std::string token_;
  FileStamp stamp_;
  uint64_t looked_at_ns_ = 0;
  LogLimiter log_;
};

/// Lets only those see /metrics who show the token. The other pages stay open: the kubelet's probes
/// have no token.
[[nodiscard]] HttpHandler guarded(HttpHandler pages, std::shared_ptr<BearerToken> token);

}  // namespace uvtap
