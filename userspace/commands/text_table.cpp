// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/text_table.h"

#include <algorithm>

namespace uvtap {
namespace {

constexpr std::string_view gap = "  ";
constexpr std::string_view ellipsis = "…";
constexpr size_t narrowest_first_column = 16;

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80; }

/// Characters, each taken to be one column wide.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, starts_character));
}

std::vector<size_t> widths_of(const TextTable& table) {
  std::vector<size_t> widths;
  widths.reserve(table.columns.size());
  for (const Column& column : table.columns)
    widths.push_back(std::max(column.min_width, width_of(column.title)));
  for (const TableRow& row : table.rows)
    for (size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], width_of(row.cells[i]));
  return widths;
}

void narrow_first_column(std::vector<size_t>& widths, size_t width) {
  if (widths.empty()) return;
  size_t total = gap.size() * (widths.size() - 1);
  for (const size_t each : widths) total += each;
  if (total <= width) return;
  const size_t lowest = std::min(widths[0], narrowest_first_column);
  widths[0] = std::max(lowest, widths[0] - std::min(widths[0], total - width));
}

std::string pad(std::string_view text, size_t width, Align align) {
  std::string cell = cut(text, width);
  const std::string spaces(width - width_of(cell), ' ');
  return align == Align::left ? cell + spaces : spaces + cell;
}

void drop_spaces_at_end(std::string& text) { text.resize(text.find_last_not_of(' ') + 1); }

}  // namespace

std::string cut(std::string_view text, size_t width) {
  if (width_of(text) <= width) return std::string(text);
  if (width == 0) return {};
  size_t bytes = 0;
  for (size_t characters = 0; bytes < text.size(); ++bytes)
    if (starts_character(text[bytes]) && ++characters == width) break;
  return std::string(text.substr(0, bytes)).append(ellipsis);
}

std::vector<Line> lay_out(const TextTable& table, size_t width) {
  auto widths = widths_of(table);
  narrow_first_column(widths, width);
  const auto line_of = [&](const auto& text_of_column, Tint tint) {
    std::string text;
    for (size_t i = 0; i < widths.size(); ++i) {
      if (i > 0) text += gap;
      text += pad(text_of_column(i), widths[i], table.columns[i].align);
    }
    drop_spaces_at_end(text);
    return Line{cut(text, width), tint};
  };
  std::vector<Line> lines{line_of([&](size_t i) { return table.columns[i].title; }, Tint::none)};
  for (const TableRow& row : table.rows)
    lines.push_back(line_of([&](size_t i) { return row.cells[i]; }, row.tint));
  return lines;
}

std::string with_colour(const Line& line) {
  constexpr std::string_view reset = "\x1b[0m";
  switch (line.tint) {
    case Tint::none:
      return line.text;
    case Tint::yellow:
      return std::string("\x1b[33m").append(line.text).append(reset);
    case Tint::red:
      return std::string("\x1b[31m").append(line.text).append(reset);
  }
  return line.text;
}

}  // namespace uvtap
