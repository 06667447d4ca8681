// SPDX-License-Identifier: Apache-2.0
#include "userspace/util/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <nlohmann/json.hpp>

#include "userspace/util/printable.h"

namespace uvtap {

namespace {

// spdlog's own %v copies the message as it is; these two flags replace it.

class PrintableMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& line) override {
    const std::string text = printable({message.payload.data(), message.payload.size()});
    line.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PrintableMessage>();
  }
};

class JsonMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& line) override {
    const nlohmann::json value = std::string(message.payload.data(), message.payload.size());
    // The last argument replaces invalid UTF-8 instead of throwing.
    const std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    line.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JsonMessage>();
  }
};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      break;
  }
  return spdlog::level::err;
}

}  // namespace

std::unique_ptr<spdlog::formatter> make_log_formatter(LogFormat format) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<PrintableMessage>('*').add_flag<JsonMessage>('J');
  formatter->set_pattern(format == LogFormat::text
                             ? "%Y-%m-%dT%H:%M:%S.%eZ %-7l  %*"
                             : R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","message":%J})");
  return formatter;
}

void set_up_logging(LogLevel level, LogFormat format) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("uvtap", std::move(sink));
  logger->set_formatter(make_log_formatter(format));
  logger->set_level(to_spdlog(level));
  spdlog::set_default_logger(std::move(logger));
}

std::optional<uint64_t> LogLimiter::allow(std::string_view key, uint64_t now_ns) {
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    if (entries_.size() >= max_keys) forget_old(now_ns);
    if (entries_.size() >= max_keys) return std::nullopt;
    entries_.emplace(key, Entry{.last_line_ns = now_ns, .held_back = 0});
    return 0;
  }
  Entry& entry = found->second;
  if (now_ns < entry.last_line_ns + interval_ns) {
    ++entry.held_back;
    return std::nullopt;
  }
  entry.last_line_ns = now_ns;
  return std::exchange(entry.held_back, 0);
}

void LogLimiter::warn(std::string_view key, uint64_t now_ns, std::string_view message) {
  const std::optional<uint64_t> held_back = allow(key, now_ns);
  if (!held_back) return;
  if (*held_back == 0) {
    spdlog::warn("{}", message);
  } else {
    spdlog::warn("{} ({} more like this in between)", message, *held_back);
  }
}

void LogLimiter::forget_old(uint64_t now_ns) {
  std::erase_if(entries_, [now_ns](const auto& item) {
    return now_ns >= item.second.last_line_ns + interval_ns;
  });
}

}  // namespace uvtap
