// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/formatter.h>
#include <spdlog/spdlog.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace uvtap {

/// trace: every step. debug: per-process decisions. info: what uvtap does. warn: something is
/// skipped and uvtap goes on. error: uvtap cannot do its work.
enum class LogLevel { trace, debug, info, warn, error };
enum class LogFormat { text, json };

/// Sends spdlog's default logger to standard error, in this format, from this level on.
void set_up_logging(LogLevel level, LogFormat format);

/// Text: "2026-01-31T12:00:00.000Z info     message"; control characters in the message are
/// replaced, so that nothing observed can forge a line. JSON: one object per line with time, level,
/// message.
[[nodiscard]] std::unique_ptr<spdlog::formatter> make_log_formatter(LogFormat format);

/// Lets one line per key through in each minute: what repeats per process must not flood the log.
class LogLimiter {
 public:
  static constexpr uint64_t interval_ns = 60'000'000'000;
  /// Keys remembered at a time; beyond them nothing new is logged until a minute has passed.
  static constexpr size_t max_keys = 1024;

  /// Whether a line may be written now: the number of lines held back since the last one, or
  /// nothing if this one is to be held back too.
  std::optional<uint64_t> allow(std::string_view key, uint64_t now_ns);

  /// Logs the warning, unless its key had its line within the last minute.
  void warn(std::string_view key, uint64_t now_ns, std::string_view message);

 private:
  struct Entry {
    uint64_t last_line_ns = 0;
    uint64_t held_back = 0;
  };
  void forget_old(uint64_t now_ns);

  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace uvtap
