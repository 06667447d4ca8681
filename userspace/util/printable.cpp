// SPDX-License-Identifier: Apache-2.0
#include "userspace/util/printable.h"

#include <cstdint>
#include <optional>

namespace uvtap {

namespace {

struct Character {
  uint32_t code_point = 0;
  size_t length = 0;  // in bytes
};

// The form of a UTF-8 sequence, from its first byte; length 0 where no sequence starts with it.
Character first_byte(uint8_t byte) {
  if (byte < 0x80) return {byte, 1};
  if (byte >= 0xC2 && byte <= 0xDF) return {byte & 0x1FU, 2};
  if (byte >= 0xE0 && byte <= 0xEF) return {byte & 0x0FU, 3};
  if (byte >= 0xF0 && byte <= 0xF4) return {byte & 0x07U, 4};
  return {};
}

// Longer than needed, a surrogate, or beyond Unicode.
bool malformed(const Character& character) {
  const uint32_t code_point = character.code_point;
  if (character.length == 3) return code_point < 0x800 || (code_point >> 11) == 0x1B;
  if (character.length == 4) return code_point < 0x10000 || code_point > 0x10FFFF;
  return false;
}

std::optional<Character> decode(std::string_view text) {
  Character character = first_byte(static_cast<uint8_t>(text.front()));
  if (character.length == 0 || character.length > text.size()) return std::nullopt;
  for (size_t i = 1; i < character.length; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if ((byte & 0xC0U) != 0x80) return std::nullopt;
    character.code_point = (character.code_point << 6) | (byte & 0x3FU);
  }
  if (malformed(character)) return std::nullopt;
  return character;
}

// Controls (C0, DEL, C1), line separators, zero-width and direction marks, byte order mark.
bool invisible(uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) ||
         (code_point >= 0x200B && code_point <= 0x200F) ||
         (code_point >= 0x2028 && code_point <= 0x202E) ||
         (code_point >= 0x2060 && code_point <= 0x206F) || code_point == 0xFEFF;
}

}  // namespace

std::string printable(std::string_view text, size_t max_bytes) {
  std::string result;
  while (!text.empty()) {
    const std::optional<Character> character = decode(text);
    const size_t length = character ? character->length : 1;
    const bool shown = character && !invisible(character->code_point);
    const std::string_view piece = shown ? text.substr(0, length) : "?";
    if (result.size() + piece.size() > max_bytes) break;
    result += piece;
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace uvtap
