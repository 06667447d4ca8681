// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <source_location>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace uvtap::fuzz {

/// A property that has to hold whatever the input is. Where it does not, libFuzzer keeps the input.
inline void require(bool holds, const char* property,
                    std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: does not hold: %s\n", where.file_name(), where.line(), property);
  std::abort();
}

/// The bytes of one run, taken from the front. What is not there any more reads as zeros.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : bytes_(data, size) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }

  template <typename Value>
  Value take() {
    static_assert(std::is_trivially_copyable_v<Value>);
    Value value{};
    const size_t size = std::min(sizeof(value), bytes_.size());
    if (size > 0) std::memcpy(&value, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return value;
  }

  /// All that is left.
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(bytes_); }

 private:
  std::span<const uint8_t> bytes_;
};

/// A number of any magnitude, from a length and a mantissa: arbitrary 64 bits would nearly always
/// be huge.
inline uint64_t take_magnitude(Input& input) {
  const auto bits = input.take<uint8_t>() % 65;
  const auto value = input.take<uint64_t>();
  return bits == 0 ? 0 : value >> (64 - bits);
}

/// The parts of a text between separators.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// Told apart from printable()'s own decoder: a table of the well-formed sequences, Unicode 3.9
/// D92.
inline bool is_utf8(std::string_view text) {
  const auto byte = [&](size_t i) -> unsigned {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : 0;
  };
  const auto within = [](unsigned value, unsigned low, unsigned high) {
    return value >= low && value <= high;
  };
  for (size_t i = 0; i < text.size();) {
    const unsigned first = byte(i);
    const size_t more = first < 0x80                ? 0
                        : within(first, 0xC2, 0xDF) ? 1
                        : within(first, 0xE0, 0xEF) ? 2
                        : within(first, 0xF0, 0xF4) ? 3
                                                    : 4;
    if (more == 4) return false;
    const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (more > 0 && !within(byte(i + 1), low, high)) return false;
    for (size_t k = 2; k <= more; ++k)
      if (!within(byte(i + k), 0x80, 0xBF)) return false;
    i += more + 1;
  }
  return true;
}

/// No byte that a terminal or a line-based format takes for a command.
inline bool has_no_control(std::string_view text) {
  for (const char each : text)
    if (static_cast<uint8_t>(each) < 0x20 || each == 0x7F) return false;
  return true;
}

}  // namespace uvtap::fuzz

/// What libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
