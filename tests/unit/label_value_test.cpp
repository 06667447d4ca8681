// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/label_value.h"

#include <catch2/catch.hpp>

namespace uvtap {
namespace {

TEST_CASE("plain and accented names stay as they are") {
  CHECK(label_value("").empty());
  CHECK(label_value("server.js/4711") == "server.js/4711");
  CHECK(label_value("größe-日本-😀") == "größe-日本-😀");
  CHECK(label_value("a\"b\\c") == "a\"b\\c");  // the text format escapes these
}

TEST_CASE("control characters become visible") {
  CHECK(label_value("a\nb\tc\x1b[31m\x7f") == "a?b?c?[31m?");
  CHECK(label_value(std::string_view("a\0b", 3)) == "a?b");
}

TEST_CASE("what is not UTF-8 is replaced byte by byte") {
  CHECK(label_value("\xff") == "?");
  CHECK(label_value("a\x80z") == "a?z");             // a continuation alone
  CHECK(label_value("\xc0\xaf") == "??");            // overlong '/'
  CHECK(label_value("\xe0\x80\xaf") == "???");       // overlong in three bytes
  CHECK(label_value("\xed\xa0\x80") == "???");       // a surrogate
  CHECK(label_value("\xf4\x90\x80\x80") == "????");  // above U+10FFFF
  CHECK(label_value("\xf5\x80\x80\x80") == "????");
  CHECK(label_value("ok\xe2\x82") == "ok??");  // cut off
  CHECK(label_value("\xe2\x82z") == "??z");
  CHECK(label_value("\xf0\x9f\x98\x80") == "😀");
}

TEST_CASE("a name as long as Kubernetes allows stays whole") {
  const std::string name(253, 'p');
  CHECK(label_value(name) == name);
}

TEST_CASE("what is too long loses its middle, not its end") {
  const std::string value = label_value(std::string(5'000, 'x') + "/4711");
  CHECK(value.size() <= label_value_limit);
  CHECK(value.starts_with("xxxx"));
  CHECK(value.ends_with("xxxx/4711"));
  CHECK(value.find("…") != std::string::npos);
}

TEST_CASE("no character is cut in two, wherever the cut falls") {
  for (size_t shift = 0; shift < 4; ++shift) {
    std::string text(shift, 'x');
    for (int i = 0; i < 200; ++i) text += "😀";
    const std::string value = label_value(text + std::string(shift, 'y'));
    CHECK(value.size() <= label_value_limit);
    CHECK(label_value(value) == value);  // still valid
    CHECK(value.find('?') == std::string::npos);
  }
}

}  // namespace
}  // namespace uvtap
