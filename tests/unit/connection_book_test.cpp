// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/connection_book.h"

#include <catch2/catch.hpp>

namespace uvtap {
namespace {

constexpr uint64_t second = 1'000'000'000;
constexpr ConnectionLimits limits{
    .connections = 4, .body_bytes = 1'000, .lifetime_ns = 10 * second};
using Sockets = std::vector<int>;

TEST_CASE("while there is room nobody is closed") {
  ConnectionBook book(limits);
  for (const int socket : {5, 6, 7, 8}) CHECK_FALSE(book.add(socket, "a", 0));
  book.remove(6);
  CHECK_FALSE(book.add(6, "a", 0));
}

TEST_CASE("a flood from one client displaces itself, not others") {
  ConnectionBook book(limits);
  CHECK_FALSE(book.add(3, "prometheus", 0));
  for (const int socket : {4, 5, 6}) CHECK_FALSE(book.add(socket, "flood", 0));
  CHECK(book.add(7, "flood", 0) == 4);
  CHECK(book.add(8, "kubelet", 0) == 5);
  CHECK(book.add(9, "flood", 0) == 6);
}

TEST_CASE("of a flood from many clients the oldest goes, the newest never") {
  ConnectionBook book(limits);
  for (const int socket : {9, 8, 7, 6}) book.add(socket, "client " + std::to_string(socket), 0);
  CHECK(book.add(5, "client 5", 0) == 9);
  CHECK(book.add(4, "client 4", 0) == 8);
}

TEST_CASE("what is being closed counts no more, and is named once") {
  ConnectionBook book(limits);
  for (const int socket : {1, 2, 3, 4}) book.add(socket, "a", 0);
  CHECK(book.add(5, "a", 0) == 1);
  CHECK(book.overdue(10 * second) == Sockets{2, 3, 4, 5});
  CHECK(book.overdue(20 * second).empty());
  for (const int socket : {6, 7, 8, 9}) CHECK_FALSE(book.add(socket, "a", 20 * second));
}

TEST_CASE("a connection has an end, whatever goes on in it") {
  ConnectionBook book(limits);
  CHECK_FALSE(book.next_due_ns());
  book.add(1, "a", second);
  book.add(2, "a", 2 * second);
  CHECK(book.next_due_ns() == 11 * second);
  CHECK(book.overdue(11 * second - 1).empty());
  CHECK(book.overdue(11 * second) == Sockets{1});
  CHECK(book.next_due_ns() == 12 * second);
}

TEST_CASE("answers on their way are bounded: of the client that takes most, the oldest goes") {
  ConnectionBook book(limits);
  book.add(1, "slow", 0);
  book.add(2, "slow", 0);
  book.add(3, "prometheus", 0);
  CHECK_FALSE(book.add_body(1, 400));
  CHECK_FALSE(book.add_body(2, 400));
  CHECK(book.add_body(3, 400) == 1);
  CHECK_FALSE(book.add_body(3, 100));
}

TEST_CASE("a single answer may be larger than all are to be") {
  ConnectionBook book(limits);
  book.add(1, "a", 0);
  CHECK_FALSE(book.add_body(1, 5'000));
  CHECK_FALSE(book.add_body(9, 5'000));
}

}  // namespace
}  // namespace uvtap
