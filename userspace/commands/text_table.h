// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace uvtap {

enum class Align { left, right };
/// How much a row wants to be seen.
enum class Tint { none, yellow, red };

struct Column {
  std::string title;
  Align align = Align::right;
  size_t min_width = 0;  ///< so that it does not move with every refresh
};

struct TableRow {
  std::vector<std::string> cells;  ///< printable; one per column
  Tint tint = Tint::none;
};

struct TextTable {
  std::vector<Column> columns;
  std::vector<TableRow> rows;
};

/// One line of text, ready to be printed.
struct Line {
  std::string text;
  Tint tint = Tint::none;
};

inline constexpr size_t unlimited_width = std::numeric_limits<size_t>::max();

/// The title line and one line per row, none longer than `width` characters: the first column gives
/// way first, then what stands rightmost.
[[nodiscard]] std::vector<Line> lay_out(const TextTable& table, size_t width = unlimited_width);

/// The first `width` characters; what is longer ends in "…".
[[nodiscard]] std::string cut(std::string_view text, size_t width);

/// The text with the escape sequences of its tint around it.
[[nodiscard]] std::string with_colour(const Line& line);

}  // namespace uvtap
