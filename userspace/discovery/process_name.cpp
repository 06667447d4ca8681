// SPDX-License-Identifier: Apache-2.0
#include "userspace/discovery/process_name.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "userspace/util/printable.h"

namespace uvtap {

namespace {

constexpr size_t max_name_bytes = 64;

// Node's options that take the next argument as their value: those of a string, number or list type
// in the option tables of 18.20, 24.22 and 26.12, and their aliases; the test
// runner's are left out. To regenerate: run node with
// --expose-internals and list, by type, what getCLIOptionsInfo() of
// require('internal/test/binding').internalBinding('options') returns. Sorted.
// clang-format off
constexpr std::string_view options_with_value[] = {
    "--allow-fs-read", "--allow-fs-write", "--build-sea", "--build-snapshot-config",
    "--conditions", "--config-file", "--cpu-prof-dir", "--cpu-prof-interval", "--cpu-prof-name",
    "--debug-port", "--diagnostic-dir", "--disable-proto", "--disable-warning",
    "--dns-result-order", "--env-file", "--env-file-if-exists", "--experimental-config-file",
    "--experimental-default-type", "--experimental-loader", "--experimental-package-map",
    "--experimental-policy", "--experimental-sea-config", "--experimental-specifier-resolution",
    "--experimental-test-tag-filter", "--heap-prof-dir", "--heap-prof-interval",
    "--heap-prof-name", "--heapsnapshot-near-heap-limit", "--heapsnapshot-signal",
    "--icu-data-dir", "--import", "--input-type", "--inspect-port", "--inspect-publish-uid",
    "--loader", "--localstorage-file", "--max-http-header-size",
    "--max-old-space-size-percentage", "--network-family-autoselection-attempt-timeout",
    "--openssl-config", "--policy-integrity", "--process-timeout", "--redirect-warnings",
    "--report-dir", "--report-directory", "--report-filename", "--report-signal", "--require",
    "--secure-heap", "--secure-heap-min", "--security-revert", "--security-reverts",
    "--snapshot-blob", "--title", "--tls-cipher-list", "--tls-keylog", "--trace-event-categories",
    "--trace-event-file-pattern", "--trace-require-module", "--unhandled-rejections",
    "--use-largepages", "--v8-pool-size", "--vfs-load", "--watch-kill-signal", "--watch-path",
    "-C", "-r",
};
// clang-format on
static_assert(std::ranges::is_sorted(options_with_value));

// With these there is no script file.
constexpr std::string_view options_instead_of_script[] = {"-e",      "--eval", "-p",
                                                          "--print", "-pe",    "--run"};

// Also "." and "..", which name nothing, give an empty text.
std::string_view base_name(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  return path == "." || path == ".." ? std::string_view() : path;
}

bool is_node(std::string_view program) { return program == "node" || program == "nodejs"; }

// Node reads --max_http_header_size as --max-http-header-size.
std::string normalised(std::string_view option) {
  std::string result(option);
  std::ranges::replace(result, '_', '-');
  return result;
}

// The first argument that is neither an option nor an option's value.
std::string_view script_argument(std::span<const std::string> arguments) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!argument.starts_with('-')) return argument;
    if (argument == "-") return {};  // the script comes from standard input
    if (argument == "--")
      return i + 1 < arguments.size() ? std::string_view(arguments[i + 1]) : std::string_view();
    const std::string option = normalised(argument);
    if (std::ranges::find(options_instead_of_script, option) != std::end(options_instead_of_script))
      return {};
    if (std::ranges::binary_search(options_with_value, option)) ++i;
  }
  return {};
}

}  // namespace

std::string display_name(std::span<const std::string> arguments) {
  if (arguments.empty()) return {};
  const std::string_view program = base_name(arguments.front());
  const std::string_view script =
      is_node(program) ? base_name(script_argument(arguments)) : std::string_view();
  return printable(script.empty() ? program : script, max_name_bytes);
}

}  // namespace uvtap
