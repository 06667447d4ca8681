// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/listen_address.h"

#include <catch2/catch.hpp>

namespace uvtap {
namespace {

TEST_CASE("the forms of a listen address") {
  const auto name = parse_listen_address("localhost:9464");
  REQUIRE(name);
  CHECK(name->host == "localhost");
  CHECK(name->port == 9464);

  const auto ipv6 = parse_listen_address("[::1]:0");
  REQUIRE(ipv6);
  CHECK(ipv6->host == "::1");
  CHECK(ipv6->port == 0);
  CHECK(to_string(*ipv6) == "[::1]:0");

  const auto any = parse_listen_address(":65535");
  REQUIRE(any);
  CHECK(any->host.empty());
  CHECK(any->port == 65535);
  CHECK(to_string(*any) == ":65535");
}

TEST_CASE("what is no listen address is refused by name") {
  for (const char* text : {"", "9464", "localhost", "localhost:", "localhost:x", "localhost:65536",
                           "localhost:-1", "localhost: 80", "::1:9464", "[]:9464", "[::1]"}) {
    CAPTURE(text);
    const auto address = parse_listen_address(text);
    REQUIRE_FALSE(address);
    CHECK_THAT(address.error().message, Catch::Contains(std::string("\"") + text + "\""));
  }
}

TEST_CASE("which addresses are this machine's alone") {
  for (const char* host : {"127.0.0.1", "127.9.9.9", "::1"})
    CHECK(is_loopback({.host = host, .port = 1}));
  for (const char* host : {"", "0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "::ffff:10.0.0.1"})
    CHECK_FALSE(is_loopback({.host = host, .port = 1}));
}

TEST_CASE("a taken port is an error that says what helps") {
  const auto first = listen_on({.host = "127.0.0.1", .port = 0});
  REQUIRE(first);
  const auto port = listening_port(first->get());
  REQUIRE(port);
  const auto second = listen_on({.host = "127.0.0.1", .port = *port});
  REQUIRE_FALSE(second);
  CHECK(second.error().message ==
        fmt::format("cannot listen on 127.0.0.1:{}: address in use; choose another with --listen",
                    *port));
}

TEST_CASE("an address that is not this machine's is an error") {
  const auto socket = listen_on({.host = "192.0.2.1", .port = 0});  // reserved for documentation
  REQUIRE_FALSE(socket);
  CHECK_THAT(socket.error().message, Catch::Contains("cannot listen on 192.0.2.1:0: "));
}

}  // namespace
}  // namespace uvtap
