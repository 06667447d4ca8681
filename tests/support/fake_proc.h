// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/support/temporary_directory.h"

namespace uvtap::test {

/// A tree that looks like /proc, built from literals in a directory of its own that goes away with
/// it.
class FakeProc {
 public:
  [[nodiscard]] std::string root() const { return directory_.path().string(); }

  /// Writes a file, with the directories above it: file("42/comm", "node\n").
  void file(std::string_view path, std::string_view content) const {
    std::ofstream stream(prepared(path), std::ios::binary);
    stream << content;
  }
  /// A FIFO that nobody writes to.
  void fifo(std::string_view path) const { ::mkfifo(prepared(path).c_str(), 0600); }
  void directory(std::string_view path) const {
    std::filesystem::create_directories(prepared(path));
  }
  void remove(std::string_view path) const {
    std::filesystem::remove_all(directory_.path() / path);
  }

  /// A process as far as its stat tells.
  void process(int pid, uint64_t start_time_ticks, char state = 'S') const {
    file(fmt::format("{}/stat", pid),
         fmt::format("{} (node) {} 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 11 0 {} 1000 200\n", pid,
                     state, start_time_ticks));
  }

 private:
  [[nodiscard]] std::filesystem::path prepared(std::string_view path) const {
    std::filesystem::create_directories((directory_.path() / path).parent_path());
    return directory_.path() / path;
  }

  TemporaryDirectory directory_;
};

}  // namespace uvtap::test
