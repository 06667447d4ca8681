// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace uvtap {

// What an administrator or a runtime lets this process ask of the kernel, and what the kernel was
// built with. Read where it is shown, never tried.

/// The kernel's own word: /sys/kernel/security/lockdown. Each forbids what the one before it does.
enum class Lockdown { none, integrity, confidentiality };
/// "none", "integrity", "confidentiality".
[[nodiscard]] std::string_view to_string(Lockdown lockdown);

/// From that file's text, such as "none [integrity] confidentiality".
[[nodiscard]] std::optional<Lockdown> parse_lockdown(std::string_view text);
/// From the kernel's command line: the value of its last "lockdown=".
[[nodiscard]] std::optional<Lockdown> parse_lockdown_parameter(std::string_view command_line);

struct LockdownState {
  std::optional<Lockdown> lockdown;  ///< none: it is not shown
  bool guessed = false;              ///< by what the kernel was started with
};
/// Read from securityfs, where it is not mounted from a private mount of it (CAP_SYS_ADMIN), and
/// where that is not to be had guessed from the kernel's command line.
[[nodiscard]] LockdownState lockdown_state();

/// kernel.perf_event_paranoid; none where the kernel does not have it.
[[nodiscard]] std::optional<int> perf_event_paranoid();
/// Whether some of this process's system calls are refused by a seccomp filter, as far as is known.
[[nodiscard]] bool is_filtered_by_seccomp();
/// Its capabilities do not count for the machine then.
[[nodiscard]] bool in_user_namespace();
/// Whether the kernel has uprobes by perf events (CONFIG_UPROBE_EVENTS).
[[nodiscard]] bool has_uprobe_events();

}  // namespace uvtap
