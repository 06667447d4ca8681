// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "userspace/util/result.h"
#include "userspace/util/unique_fd.h"

namespace uvtap {

/// Where to listen, as a person writes it.
struct ListenAddress {
  std::string host;   ///< without brackets; empty: all interfaces, IPv6 and IPv4
  uint16_t port = 0;  ///< 0: any free one
};

/// "HOST:PORT", "[IPV6]:PORT" or ":PORT".
[[nodiscard]] Result<ListenAddress> parse_listen_address(std::string_view text);

/// "HOST:PORT" again, with brackets where they belong.
[[nodiscard]] std::string to_string(const ListenAddress& address);

/// Whether only programs of this machine can connect.
[[nodiscard]] bool is_loopback(const ListenAddress& address);

/// A non-blocking socket that accepts connections. The error says what to do if the port is taken.
[[nodiscard]] Result<UniqueFd> listen_on(const ListenAddress& address);

/// The port that a socket listens on.
[[nodiscard]] Result<uint16_t> listening_port(int socket);

}  // namespace uvtap
