// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "userspace/commands/commands.h"
#include "userspace/config.h"
#include "userspace/util/log.h"
#include "userspace/util/patient_thread.h"
#include "userspace/version.h"

namespace {

using namespace uvtap;

constexpr int exit_usage = 2;

Result<int> run(const Config& config) {
  switch (config.command) {
    case Command::serve:
      return serve(config);
    case Command::top:
      return top(config);
    case Command::check:
      return check(config);
    case Command::version:
      std::puts(version);
      return 0;
  }
  return 0;
}

int complain(const Error& error, int code) {
  std::fprintf(stderr, "uvtap: %s\n", error.message.c_str());
  return code;
}

int run_arguments(const std::vector<std::string>& given) {
  auto parsed = parse_config(given, process_environment);
  if (const auto* help = std::get_if<HelpText>(&parsed)) {
    std::fputs(help->text.c_str(), stdout);
    return 0;
  }
  if (const auto* error = std::get_if<Error>(&parsed)) return complain(*error, exit_usage);
  const auto& config = std::get<Config>(parsed);
  set_up_logging(config.log_level, config.log_format);
  auto code = run(config);
  const int exit_code = code ? *code : complain(code.error(), 1);
  // A thread that was given up may come back at any moment: leave it no half-destroyed objects.
  if (PatientThread::abandoned() > 0) {
    std::fflush(nullptr);
    std::_Exit(exit_code);
  }
  return exit_code;
}

}  // namespace

int main(int count, char** arguments) {
  // Our own errors are values. What a library throws, or a lack of memory, ends here.
  try {
    return run_arguments({arguments + 1, arguments + count});
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "uvtap: unexpected: %s\n", exception.what());
    return 1;
  }
}
