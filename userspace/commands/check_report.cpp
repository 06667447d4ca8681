// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/check_report.h"

#include <fmt/core.h>
#include <linux/capability.h>

#include <array>
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

bool has_capability(Capabilities held, int capability) {
  return ((held >> static_cast<unsigned>(capability)) & 1U) != 0;
}

std::optional<Capabilities> parse_capabilities(std::string_view status) {
  constexpr std::string_view label = "\nCapEff:\t";
  const size_t at = status.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  status.remove_prefix(at + label.size());
  Capabilities held = 0;
  const auto [rest, error] =
      std::from_chars(status.data(), status.data() + status.size(), held, 16);
  if (error != std::errc{} || rest == status.data()) return std::nullopt;
  return held;
}

bool may_use_perf(Capabilities held) {
  return has_capability(held, CAP_PERFMON) || has_capability(held, CAP_SYS_ADMIN);
}

std::vector<std::string_view> missing_capabilities(Capabilities held) {
  std::vector<std::string_view> missing;
  if (!has_capability(held, CAP_BPF) && !has_capability(held, CAP_SYS_ADMIN))
    missing.emplace_back("CAP_BPF");
  if (!may_use_perf(held)) missing.emplace_back("CAP_PERFMON");
  if (!has_capability(held, CAP_SYS_ADMIN)) missing.emplace_back("CAP_SYS_ADMIN");
  if (!has_capability(held, CAP_SYS_PTRACE)) missing.emplace_back("CAP_SYS_PTRACE");
  return missing;
}

}  // namespace uvtap
