// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/label_value.h"

#include <cstdint>

namespace uvtap {
namespace {

constexpr std::string_view ellipsis = "…";
constexpr size_t tail_bytes = 64;
constexpr size_t head_bytes = label_value_limit - ellipsis.size() - tail_bytes;

uint8_t byte_at(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

bool is_continuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

/// The length that a lead byte announces; 0 for a byte that cannot lead.
size_t announced_length(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

/// Whether the second byte is out of the narrower range that four lead bytes ask for: overlong
/// forms, surrogates and what lies above U+10FFFF (Unicode 15, table 3-7).
bool is_forbidden_pair(uint8_t lead, uint8_t second) {
  return (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
         (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
}

/// The bytes of the character that starts at i; 0 where none does.
size_t character_length(std::string_view text, size_t i) {
  const uint8_t lead = byte_at(text, i);
  const size_t length = announced_length(lead);
  if (length == 0 || i + length > text.size()) return 0;
  for (size_t k = 1; k < length; ++k) {
    if (!is_continuation(byte_at(text, i + k))) return 0;
  }
  return length > 1 && is_forbidden_pair(lead, byte_at(text, i + 1)) ? 0 : length;
}

bool is_control(char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t length = character_length(text, i);
    if (length == 0 || is_control(text[i])) {
      out += '?';
      i += 1;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out;
}

/// Moves a cut back to the start of the character it falls into.
size_t character_start(std::string_view text, size_t cut) {
  while (cut > 0 && is_continuation(byte_at(text, cut))) --cut;
  return cut;
}

/// The same forwards.
size_t next_character(std::string_view text, size_t cut) {
  while (cut < text.size() && is_continuation(byte_at(text, cut))) ++cut;
  return cut;
}

}  // namespace

std::string label_value(std::string_view text) {
  std::string value = printable(text);
  if (value.size() <= label_value_limit) return value;
  const size_t head = character_start(value, head_bytes);
  const size_t tail = next_character(value, value.size() - tail_bytes);
  return value.substr(0, head) + std::string(ellipsis) + value.substr(tail);
}

}  // namespace uvtap
