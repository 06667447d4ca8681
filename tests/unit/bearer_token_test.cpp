// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/bearer_token.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_directory.h"

namespace uvtap {
namespace {

using Catch::Matchers::Contains;
using namespace std::string_literals;

/// A file with a token, and the token read from it.
struct TokenFile {
  test::TemporaryDirectory directory;
  std::string path = directory.path() / "token";

  void write(const std::string& text) const { std::ofstream(path) << text; }
  [[nodiscard]] std::shared_ptr<BearerToken> accepted(const std::string& text) const {
    write(text);
    auto token = BearerToken::read(path);
    REQUIRE(token);
    return *token;
  }
  [[nodiscard]] std::string refused(const std::string& text) const {
    write(text);
    const auto token = BearerToken::read(path);
    REQUIRE_FALSE(token);
    return token.error().message;
  }
};

TEST_CASE("the token alone opens, in the form of RFC 6750") {
  const TokenFile file;
  const auto token = file.accepted("s3cret\n");
  CHECK(token->accepts("Bearer s3cret"));
  CHECK(token->accepts("bearer s3cret"));
  for (const char* other : {"", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3cret2",
                            "Bearer s3creT", "Bearer  s3cret", "Bearer s3cret ", "Basic s3cret",
                            "s3cret", "Bearer\ts3cret", "Bearer s3crets3cret"}) {
    INFO(other);
    CHECK_FALSE(token->accepts(other));
  }
}

TEST_CASE("while the file holds no token, the last one stays good") {
  const TokenFile file;
  const auto token = file.accepted("first");
  file.write("the second");
  CHECK_FALSE(token->accepts("Bearer the"));
  CHECK(token->accepts("Bearer first"));
}

TEST_CASE("it is read again when the file has changed") {
  const TokenFile file;
  const auto token = file.accepted("first");
  file.write("second");
  CHECK_FALSE(token->accepts("Bearer first"));
  CHECK(token->accepts("Bearer second"));
}

TEST_CASE("what is no token is refused in a line that names the file") {
  const TokenFile file;
  CHECK_THAT(file.refused(""), Contains(file.path) && Contains("empty"));
  CHECK_THAT(file.refused("\n\r\n"), Contains(file.path));
  CHECK_THAT(file.refused("two words"), Contains("without spaces"));
  CHECK_THAT(file.refused("nul\0byte"s), Contains("printable"));
  CHECK_THAT(file.refused(std::string(4'097, 'x')), Contains("4096"));
  CHECK_THAT(file.refused(std::string(1'000'000, 'x')), Contains("more than"));
}

TEST_CASE("what is no file is refused, and not waited for") {
  const TokenFile file;
  CHECK_THAT(BearerToken::read(file.path).error().message, Contains("No such file"));
  const std::string directory = file.directory.path();
  CHECK_THAT(BearerToken::read(directory).error().message, Contains("not a regular file"));
  CHECK_THAT(BearerToken::read("/dev/zero").error().message, Contains("not a regular file"));
}

TEST_CASE("the token is asked for at /metrics and nowhere else") {
  const TokenFile file;
  const HttpHandler pages = guarded(
      [](const HttpRequest& request) { return HttpResponse{.body = std::string(request.path)}; },
      file.accepted("s3cret"));
  CHECK(pages({.path = "/metrics", .authorization = ""}).status == 401);
  CHECK(pages({.path = "/metrics", .authorization = "Bearer wrong"}).status == 401);
  CHECK(pages({.path = "/metrics", .authorization = "Bearer s3cret"}).body == "/metrics");
  for (const char* open : {"/", "/healthz", "/readyz", "/none"})
    CHECK(pages({.path = open, .authorization = ""}).body == open);
}

}  // namespace
}  // namespace uvtap
