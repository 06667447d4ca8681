// SPDX-License-Identifier: Apache-2.0
// Clients that ask again as soon as they are answered: closed_loop_clients http|echo PORT
// CONNECTIONS
//
// All answers must be as long as the first one. Each line on stdin is answered by a line of JSON:
// how many answers came since the line before, and the median and 99th percentile of their latency.
// Ends when stdin does; when the server closes a connection, with exit code 1.
//
// After a line that says "busy", and until the next one, they never sleep: the server does not pay
// for waking them, and a short interruption does not change how many of them it finds waiting in a
// turn. Both would drown the cost of a probe.

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view http_request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr size_t message_bytes = 64;
constexpr uint32_t most_connections = 10'000;

struct Connection {
  int fd = -1;
  size_t answer_bytes = 0;  ///< how long an answer is
  size_t missing_bytes = 0;
  Clock::time_point asked_at;
};

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(1);  // NOLINT(concurrency-mt-unsafe): one thread
}

/// The whole length of the answer that begins so; 0 while its head is not complete.
size_t http_answer_bytes(std::string_view begin) {
  constexpr std::string_view length_name = "Content-Length: ";
  const size_t head_end = begin.find("\r\n\r\n");
  const size_t length_at = begin.find(length_name);
  if (head_end == std::string_view::npos || length_at > head_end) return 0;
  const std::string_view number = begin.substr(length_at + length_name.size());
  size_t body_bytes = 0;
  std::from_chars(number.data(), number.data() + number.size(), body_bytes);
  return head_end + 4 + body_bytes;
}

class Clients {
 public:
  Clients(bool is_http, uint16_t port, uint32_t count)
      : is_http_(is_http),
        request_(is_http ? std::string(http_request) : std::string(message_bytes, 'x')),
        connections_(count) {
    watch(STDIN_FILENO, count);
    for (uint32_t i = 0; i < count; i++) {
      open(connections_[i], port);
      watch(connections_[i].fd, i);
    }
  }

  void run() {
    std::array<epoll_event, 256> events{};
    for (Connection& each : connections_) ask(each);
    while (true) {
      const int ready =
          epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), is_busy_ ? 0 : -1);
      for (int i = 0; i < ready; i++) {
        const uint32_t which = events[static_cast<size_t>(i)].data.u32;
        if (which < connections_.size())
          take(connections_[which]);
        else if (!report())
          return;
      }
    }
  }

 private:
  void watch(int fd, uint32_t which) const {
    epoll_event event{.events = EPOLLIN, .data = {.u32 = which}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) give_up("epoll_ctl");
  }

  /// Connects, and learns from a first answer how long answers are.
  void open(Connection& connection, uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connection.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(connection.fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
      give_up("connect");
    connection.answer_bytes = first_answer_bytes(connection);
  }

  size_t first_answer_bytes(Connection& connection) {
    std::string answer;
    size_t whole = 0;
    ask(connection);
    while (whole == 0 || answer.size() < whole) {
      answer += receive(connection);
      whole = is_http_ ? http_answer_bytes(answer) : message_bytes;
    }
    return whole;
  }

  std::string_view receive(const Connection& connection) {
    const ssize_t count = recv(connection.fd, buffer_.data(), buffer_.size(), 0);
    if (count < 0) give_up("recv");
    if (count == 0) {
      std::fputs("the server closed a connection\n", stderr);
      std::exit(1);  // NOLINT(concurrency-mt-unsafe): one thread
    }
    return {buffer_.data(), static_cast<size_t>(count)};
  }

  void ask(Connection& connection) const {
    connection.asked_at = Clock::now();
    connection.missing_bytes = connection.answer_bytes;
    const ssize_t sent = send(connection.fd, request_.data(), request_.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(request_.size())) give_up("send");
  }

  void take(Connection& connection) {
    const size_t count = receive(connection).size();
    connection.missing_bytes -= std::min(count, connection.missing_bytes);
    if (connection.missing_bytes > 0) return;
    latencies_ns_.push_back((Clock::now() - connection.asked_at).count());
    ask(connection);
  }

  /// False at the end of stdin.
  bool report() {
    const ssize_t count = read(STDIN_FILENO, buffer_.data(), buffer_.size());
    if (count <= 0) return false;
    is_busy_ = std::string_view(buffer_.data(), static_cast<size_t>(count)) == "busy\n";
    std::ranges::sort(latencies_ns_);
    std::printf("{\"answers\": %zu, \"p50_ns\": %lld, \"p99_ns\": %lld}\n", latencies_ns_.size(),
                quantile_ns(50), quantile_ns(99));
    std::fflush(stdout);
    latencies_ns_.clear();
    return true;
  }

  [[nodiscard]] long long quantile_ns(size_t percent) const {
    if (latencies_ns_.empty()) return 0;
    return latencies_ns_[(latencies_ns_.size() - 1) * percent / 100];
  }

  bool is_http_;
  bool is_busy_ = false;
  std::string request_;
  std::vector<Connection> connections_;
  int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  std::vector<int64_t> latencies_ns_;
  std::array<char, 65536> buffer_{};
};

uint32_t number(std::string_view text, uint32_t most) {
  uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value <= most ? value : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  const bool complete = arguments.size() == 3;
  const bool is_http = complete && arguments[0] == "http";
  const uint32_t port = complete ? number(arguments[1], 65535) : 0;
  const uint32_t count = complete ? number(arguments[2], most_connections) : 0;
  if (port == 0 || count == 0 || (!is_http && arguments[0] != "echo")) {
    std::fputs("usage: closed_loop_clients http|echo PORT CONNECTIONS\n", stderr);
    return 2;
  }
  Clients(is_http, static_cast<uint16_t>(port), count).run();
  return 0;
}
