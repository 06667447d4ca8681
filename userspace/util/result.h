// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <cstring>
#include <expected>
#include <string>
#include <utility>

namespace uvtap {

/// What went wrong, in one line that a person can act on.
struct Error {
  std::string message;
};

/// A value or the reason why there is none. Errors travel as values; only main() turns them into
/// an exit code.
template <typename T>
using Result = std::expected<T, Error>;

/// Builds the error side of a Result: `return fail("{} is not an ELF file", path);`
template <typename... Args>
[[nodiscard]] std::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...)});
}

/// The same, ending in what `error_number` (an errno value) means.
template <typename... Args>
[[nodiscard]] std::unexpected<Error> fail_errno(int error_number,
                                                fmt::format_string<Args...> format,
                                                Args&&... args) {
  return fail("{}: {}", fmt::format(format, std::forward<Args>(args)...),
              std::strerror(error_number));
}

}  // namespace uvtap
