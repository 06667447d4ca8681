// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>

/// Tests of the bpf tier: without root they are skipped, and say so.
int main(int count, char* arguments[]) {
  constexpr int skipped = 77;
  if (geteuid() != 0) {
    std::puts("SKIPPED: loading BPF programs needs root");
    return skipped;
  }
  return Catch::Session().run(count, arguments);
}
