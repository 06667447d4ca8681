// SPDX-License-Identifier: Apache-2.0
#include "userspace/util/printable.h"

#include <catch2/catch.hpp>

using uvtap::printable;

TEST_CASE("ordinary text stays as it is", "[printable]") {
  CHECK(printable("server.js") == "server.js");
  CHECK(printable("größe 日本 🚀") == "größe 日本 🚀");
  CHECK(printable("").empty());
}

TEST_CASE("what hides, reorders or controls is replaced", "[printable]") {
  CHECK(printable("a\nb\tc\x1b[31m\x7f") == "a?b?c?[31m?");
  CHECK(printable("a\u0085b") == "a?b");           // C1
  CHECK(printable("a\u202Eb\u200Bc") == "a?b?c");  // right-to-left override, zero width space
}

TEST_CASE("bytes that are no UTF-8 are replaced one by one", "[printable]") {
  CHECK(printable("a\xff\xfe") == "a??");
  CHECK(printable("\xc0\xaf") == "??");            // overlong '/'
  CHECK(printable("\xe0\x80\xaf") == "???");       // overlong, three bytes
  CHECK(printable("\xed\xa0\x80") == "???");       // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "????");  // beyond U+10FFFF
  CHECK(printable("a\xe6\x97") == "a??");          // cut off
}

TEST_CASE("long text is cut between characters", "[printable]") {
  CHECK(printable("abcdef", 4) == "abcd");
  CHECK(printable("abcé", 4) == "abc");
  CHECK(printable("abcé", 5) == "abcé");
  CHECK(printable("abc", 0).empty());
}
