// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/label_value.h"

#include <cstdint>

#include "userspace/util/printable.h"

namespace uvtap {
namespace {

constexpr std::string_view ellipsis = "…";
constexpr size_t tail_bytes = 64;
constexpr size_t head_bytes = label_value_limit - ellipsis.size() - tail_bytes;

bool is_inside_character(std::string_view text, size_t i) {
  return (static_cast<uint8_t>(text[i]) & 0xc0U) == 0x80;
}

/// Moves a cut back to the start of the character it falls into.
size_t character_start(std::string_view text, size_t cut) {
  while (cut > 0 && is_inside_character(text, cut)) --cut;
  return cut;
}

/// The same forwards.
size_t next_character(std::string_view text, size_t cut) {
  while (cut < text.size() && is_inside_character(text, cut)) ++cut;
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
