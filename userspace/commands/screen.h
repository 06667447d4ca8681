// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "userspace/commands/text_table.h"

namespace uvtap {

/// How many characters fit on the terminal that this descriptor leads to.
struct TerminalSize {
  size_t columns = 80;
  size_t rows = 24;
};
[[nodiscard]] std::optional<TerminalSize> terminal_size(int fd);

/// The terminal on standard output while a live table is shown: the alternate screen, without
/// cursor or line wrap. What was there before comes back when it goes.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  [[nodiscard]] TerminalSize size() const;
  /// Shows as many of the lines as fit. One write, over the old picture: nothing flickers.
  void draw(const std::vector<Line>& lines) const;
};

/// Standard input gives each key at once and shows none, where it is a terminal; put back when it
/// goes. Ctrl-C still interrupts; Ctrl-Z and Ctrl-\ would leave the screen as it is, and do
/// nothing.
class Keys {
 public:
  Keys();
  ~Keys();
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  /// Whether there is a terminal to read from.
  [[nodiscard]] bool available() const { return before_.has_value(); }
  /// Takes what was typed: whether it was q, or the terminal is gone.
  [[nodiscard]] bool quit() const;

 private:
  std::optional<termios> before_;
};

}  // namespace uvtap
