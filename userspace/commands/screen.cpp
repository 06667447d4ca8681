// SPDX-License-Identifier: Apache-2.0
#include "userspace/commands/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

namespace uvtap {
namespace {

// What every terminal since the VT220 and xterm understands.
constexpr std::string_view enter =
    "\x1b[?1049h\x1b[?25l\x1b[?7l";  // other screen, no cursor, no wrap
constexpr std::string_view leave = "\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::string_view home = "\x1b[H";
constexpr std::string_view clear_to_end_of_line = "\x1b[K";
constexpr std::string_view clear_below = "\x1b[J";

void write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the terminal is gone: Keys::quit() or SIGHUP will tell
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

std::optional<TerminalSize> terminal_size(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) return std::nullopt;
  if (size.ws_col == 0 || size.ws_row == 0) return TerminalSize{};
  return TerminalSize{size.ws_col, size.ws_row};
}

Screen::Screen() { write_out(enter); }
Screen::~Screen() { write_out(leave); }

TerminalSize Screen::size() const { return terminal_size(STDOUT_FILENO).value_or(TerminalSize{}); }

void Screen::draw(const std::vector<Line>& lines) const {
  std::string frame(home);
  const size_t shown = std::min(lines.size(), size().rows);
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) frame += "\r\n";
    frame.append(with_colour(lines[i])).append(clear_to_end_of_line);
  }
  write_out(frame.append(clear_below));
}

Keys::Keys() {
  termios settings{};
  if (tcgetattr(STDIN_FILENO, &settings) != 0) return;
  before_ = settings;
  settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  settings.c_cc[VSUSP] = _POSIX_VDISABLE;
  settings.c_cc[VQUIT] = _POSIX_VDISABLE;
  tcsetattr(STDIN_FILENO, TCSANOW, &settings);
}

Keys::~Keys() {
  if (before_) tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
}

bool Keys::quit() const {
  std::array<char, 64> typed{};
  const ssize_t length = read(STDIN_FILENO, typed.data(), typed.size());
  if (length <= 0) return true;
  const std::string_view text(typed.data(), static_cast<size_t>(length));
  return text.find_first_of("qQ") != std::string_view::npos;
}

}  // namespace uvtap
