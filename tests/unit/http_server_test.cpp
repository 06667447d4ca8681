// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "userspace/metrics/http_pages.h"
#include "userspace/metrics/metrics_page.h"

namespace uvtap {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

UniqueFd connect_to(uint16_t port) {
  UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return client;
}

UniqueFd connect_to_ipv6(uint16_t port) {
  UniqueFd client(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  address.sin6_addr = in6addr_loopback;
  if (::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return {};
  return client;
}

void send_text(const UniqueFd& client, const std::string& text) {
  REQUIRE(::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(text.size()));
}

/// Everything until the server closes.
std::string receive_all(const UniqueFd& client) {
  std::string text;
  std::array<char, 4096> piece{};
  ssize_t bytes = 0;
  while ((bytes = ::recv(client.get(), piece.data(), piece.size(), 0)) > 0) {
    text.append(piece.data(), static_cast<size_t>(bytes));
  }
  return text;
}

std::string exchange(uint16_t port, const std::string& request) {
  const UniqueFd client = connect_to(port);
  send_text(client, request);
  return receive_all(client);
}

/// A server with uvtap's pages on a free port.
struct Served {
  MetricsPage page;
  std::optional<std::string> unhealthy;
  std::optional<std::string> unready;
  std::unique_ptr<HttpServer> server;

  explicit Served(const ListenAddress& address = {.host = "127.0.0.1", .port = 0}) {
    auto started = HttpServer::start(
        address, HttpPages(page, [this] { return unhealthy; }, [this] { return unready; }));
    REQUIRE(started);
    server = std::move(*started);
  }
  [[nodiscard]] std::string get(const std::string& path) const {
    return exchange(server->port(), "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
};

TEST_CASE("/metrics is the page, in the text format") {
  const Served served;
  const std::string response = served.get("/metrics");
  CHECK_THAT(response, StartsWith("HTTP/1.1 200 OK\r\n"));
  CHECK_THAT(response, Contains("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  CHECK_THAT(response, Contains("\nprocess_open_fds "));
}

TEST_CASE("/healthz and /readyz say whether, and why not") {
  Served served;
  CHECK_THAT(served.get("/healthz"), StartsWith("HTTP/1.1 200 OK"));
  CHECK_THAT(served.get("/readyz"), StartsWith("HTTP/1.1 200 OK"));
  served.unhealthy = "no tick for 12 s";
  CHECK_THAT(served.get("/healthz"), StartsWith("HTTP/1.1 503 ") && Contains("no tick for 12 s"));
  CHECK_THAT(served.get("/readyz"), StartsWith("HTTP/1.1 200 OK"));
  served.unready = "first scan not done";
  CHECK_THAT(served.get("/readyz"), StartsWith("HTTP/1.1 503 ") && Contains("first scan not done"));
}

TEST_CASE("/ links the others, and nothing else is there") {
  const Served served;
  CHECK_THAT(served.get("/"), Contains("text/html") && Contains("href=\"/metrics\"") &&
                                  Contains("href=\"/healthz\"") && Contains("href=\"/readyz\""));
  CHECK_THAT(served.get("/metrics/"), StartsWith("HTTP/1.1 404 "));
  CHECK_THAT(served.get("/../etc/passwd"), StartsWith("HTTP/1.1 404 "));
}

TEST_CASE("HEAD has the head of GET and no body; other methods are refused") {
  const Served served;
  const uint16_t port = served.server->port();
  const std::string head = exchange(port, "HEAD / HTTP/1.1\r\n\r\n");
  CHECK_THAT(head, StartsWith("HTTP/1.1 200 OK") && !Contains("Content-Length: 0"));
  CHECK(head.ends_with("\r\n\r\n"));
  CHECK_THAT(exchange(port, "POST /metrics HTTP/1.1\r\nContent-Length: 0\r\n\r\n"),
             StartsWith("HTTP/1.1 405 "));
}

TEST_CASE("a handler sees who asks, and 401 says what is asked for") {
  auto server = HttpServer::start({.host = "127.0.0.1", .port = 0}, [](const HttpRequest& request) {
    if (request.authorization.empty()) return HttpResponse{.status = 401, .body = "no\n"};
    return HttpResponse{.body = std::string(request.authorization)};
  });
  REQUIRE(server);
  const uint16_t port = (*server)->port();
  CHECK_THAT(exchange(port, "GET / HTTP/1.1\r\n\r\n"),
             StartsWith("HTTP/1.1 401 ") && Contains("\r\nWWW-Authenticate: Bearer\r\n"));
  CHECK_THAT(exchange(port, "GET / HTTP/1.1\r\nauthorization: Bearer x\r\n\r\n"),
             Catch::Matchers::EndsWith("\r\n\r\nBearer x"));
}

TEST_CASE("whoever comes next is served, however many hold connections open") {
  const Served served;
  std::vector<UniqueFd> held;
  const auto before = std::chrono::steady_clock::now();
  // More than there are places. Each time the listener's queue is full too, the kernel puts some
  // off by a second, so more of them would say nothing more.
  for (int i = 0; i < 150; ++i) held.push_back(connect_to(served.server->port()));
  CHECK_THAT(served.get("/healthz"), StartsWith("HTTP/1.1 200 OK"));
  // A silent connection would keep its place for 5 s.
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(4));
}

TEST_CASE("a request may come in pieces") {
  const Served served;
  const UniqueFd client = connect_to(served.server->port());
  for (const char* piece : {"GE", "T /healthz HT", "TP/1.1\r\n", "\r", "\n"}) {
    send_text(client, piece);
  }
  CHECK_THAT(receive_all(client), StartsWith("HTTP/1.1 200 OK"));
}

TEST_CASE("a request without end is cut off") {
  const Served served;
  const UniqueFd client = connect_to(served.server->port());
  send_text(client, "GET / HTTP/1.1\r\nX: " + std::string(8'300, 'x'));
  CHECK_THAT(receive_all(client), StartsWith("HTTP/1.1 431 "));
}

TEST_CASE("silent clients do not keep others waiting, nor the server from stopping") {
  std::optional<Served> served(std::in_place);
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 8; ++i) {
    silent.push_back(connect_to(served->server->port()));
    send_text(silent.back(), "GET /");
  }
  CHECK_THAT(served->get("/healthz"), StartsWith("HTTP/1.1 200 OK"));

  const auto before = std::chrono::steady_clock::now();
  served.reset();
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::milliseconds(500));
  for (const UniqueFd& client : silent) CHECK(receive_all(client).empty());
}

TEST_CASE("what is no request is not answered, and the next one is") {
  const Served served;
  CHECK_THAT(exchange(served.server->port(), "nonsense\r\n\r\n"), !Contains(" 200 "));
  CHECK_THAT(served.get("/healthz"), StartsWith("HTTP/1.1 200 OK"));
}

TEST_CASE("without a host IPv4 and IPv6 are both served") {
  const Served served(ListenAddress{.host = "", .port = 0});
  CHECK_THAT(served.get("/healthz"), StartsWith("HTTP/1.1 200 OK"));
  const UniqueFd client = connect_to_ipv6(served.server->port());
  if (!client.valid()) {
    WARN("skipped: no IPv6 on this machine");
    return;
  }
  send_text(client, "GET /healthz HTTP/1.1\r\n\r\n");
  CHECK_THAT(receive_all(client), StartsWith("HTTP/1.1 200 OK"));
}

TEST_CASE("clients that do not read cannot have any number of answers wait for them") {
  const std::string body(8'000'000, 'b');
  auto server = HttpServer::start({.host = "127.0.0.1", .port = 0},
                                  [&](const HttpRequest&) { return HttpResponse{.body = body}; });
  REQUIRE(server);
  std::vector<UniqueFd> slow;
  for (int i = 0; i < 12; ++i) {
    slow.push_back(connect_to((*server)->port()));
    send_text(slow.back(), "GET / HTTP/1.1\r\n\r\n");
    char begin = 0;
    REQUIRE(::recv(slow.back().get(), &begin, 1, 0) == 1);
  }
  const auto whole = std::ranges::count_if(
      slow, [&](const UniqueFd& client) { return receive_all(client).size() > body.size(); });
  CHECK(whole == 2);  // 16 MB
}

TEST_CASE("a body larger than the socket's buffers arrives whole") {
  const std::string body(8'000'000, 'b');
  auto server = HttpServer::start({.host = "127.0.0.1", .port = 0},
                                  [&](const HttpRequest&) { return HttpResponse{.body = body}; });
  REQUIRE(server);
  const std::string response = exchange((*server)->port(), "GET / HTTP/1.1\r\n\r\n");
  CHECK(response.size() > body.size());
  CHECK(response.ends_with("\r\n\r\n" + body));
}

}  // namespace
}  // namespace uvtap
