// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/check_report.h"

#include <fmt/core.h>

#include <charconv>
#include <system_error>
#include <utility>

#include "userspace/util/printable.h"

namespace uvtap {
namespace {

std::string_view word_of(Finding finding) {
  switch (finding) {
    case Finding::ok:
      return "ok";
    case Finding::no:
      return "no";
    case Finding::skipped:
      return "--";
  }
  return "";
}

/// Reads a number and takes it off the text.
std::optional<unsigned> take_number(std::string_view& text) {
  unsigned number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  return number;
}

}  // namespace

std::string to_text(const CheckLine& line) {
  std::string text = fmt::format("{}  {:<24}  {}\n", word_of(line.finding), printable(line.what),
                                 printable(line.why));
  if (!line.remedy.empty())
    text += fmt::format("{:30}what helps: {}\n", "", printable(line.remedy));
  return text;
}

std::optional<KernelVersion> parse_kernel_version(std::string_view release) {
  const auto major = take_number(release);
  if (!major || !release.starts_with('.')) return std::nullopt;
  release.remove_prefix(1);
  const auto minor = take_number(release);
  if (!minor) return std::nullopt;
  return KernelVersion{*major, *minor};
}

}  // namespace uvtap
