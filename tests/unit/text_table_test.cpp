// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/text_table.h"

#include <catch2/catch.hpp>

namespace uvtap {
namespace {

std::vector<std::string> texts(const std::vector<Line>& lines) {
  std::vector<std::string> result;
  for (const Line& line : lines) result.push_back(line.text);
  return result;
}

TextTable two_columns() {
  return {.columns = {{"NAME", Align::left}, {"N"}}, .rows = {{{"a", "1"}}, {{"größe", "20"}}}};
}

TEST_CASE("columns are as wide as their widest cell, in characters") {
  CHECK(texts(lay_out(two_columns())) ==
        std::vector<std::string>{"NAME    N", "a       1", "größe  20"});
}

TEST_CASE("a column can be kept wide") {
  auto table = two_columns();
  table.columns[1].min_width = 4;
  CHECK(texts(lay_out(table)).front() == "NAME      N");
}

TEST_CASE("where the table does not fit, the first column gives way") {
  TextTable table = two_columns();
  table.rows[0].cells[0] = "abcdefghijklmnopqrstuvwxyz";
  CHECK(texts(lay_out(table, 24))[1] == "abcdefghijklmnopqrs…   1");
}

TEST_CASE("the first column keeps 16 characters, and then the lines are cut") {
  TextTable table = two_columns();
  table.rows[0].cells[0] = "abcdefghijklmnopqrstuvwxyz";
  const auto lines = texts(lay_out(table, 18));
  CHECK(lines[1] == "abcdefghijklmno… …");
  CHECK(texts(lay_out(table, 1))[1] == "…");
}

TEST_CASE("a table without rows is its titles, one without columns nothing") {
  CHECK(texts(lay_out({.columns = {{"A"}, {"B"}}, .rows = {}})) ==
        std::vector<std::string>{"A  B"});
  CHECK(texts(lay_out({}, 10)) == std::vector<std::string>{""});
}

TEST_CASE("text is cut between characters") {
  CHECK(cut("größe", 5) == "größe");
  CHECK(cut("größe", 4) == "grö…");
  CHECK(cut("größe", 1) == "…");
  CHECK(cut("größe", 0).empty());
}

TEST_CASE("a tint is taken back at the end of its line") {
  CHECK(with_colour({"x", Tint::none}) == "x");
  CHECK(with_colour({"x", Tint::red}) == "\x1b[31mx\x1b[0m");
  CHECK(with_colour({"x", Tint::yellow}) == "\x1b[33mx\x1b[0m");
}

}  // namespace
}  // namespace uvtap
