// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/util/result.h"

namespace uvtap {

/// The first `limit` bytes of a regular file. Never blocks: a FIFO or a device is refused.
[[nodiscard]] Result<std::string> read_bounded(const std::string& path, size_t limit);

/// Hands out the lines of a regular file one by one, without their newline, so that a long file
/// needs little memory. Lines over 8 KiB are left out; fails once `limit` bytes have been read.
[[nodiscard]] Result<void> for_each_line(const std::string& path, size_t limit,
                                         const std::function<void(std::string_view)>& visit);

/// The entries of a directory whose names are positive numbers; fails beyond `limit` entries.
[[nodiscard]] Result<std::vector<pid_t>> list_numbers(const std::string& path, size_t limit);

}  // namespace uvtap
