// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "userspace/util/result.h"

namespace uvtap {

/// The number of a syscall tracepoint, e.g. "sys_enter_epoll_wait", as perf_event_open wants it.
/// Read from tracefs where it is mounted; else from a detached mount of our own that nobody else
/// sees (fsopen, kernel 5.2; needs CAP_SYS_ADMIN). Remembered from then on. For one thread.
[[nodiscard]] Result<uint64_t> syscall_tracepoint_id(std::string_view event_name);

/// What tracefs_place() says where it is not mounted for everybody.
inline constexpr std::string_view private_tracefs = "a private mount";
/// Where tracefs is reached: "/sys/kernel/tracing", "/sys/kernel/debug/tracing", or a private
/// mount; an error where it is not.
[[nodiscard]] Result<std::string_view> tracefs_place();

}  // namespace uvtap
