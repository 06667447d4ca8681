// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace uvtap {

/// Takes over a total that may seem to have fallen behind: a look into memory can run ahead of what
/// the turn then turns out to have been. Returns what it gained.
inline uint64_t raise(uint64_t& total, uint64_t now) {
  const uint64_t gained = now > total ? now - total : 0;
  total += gained;
  return gained;
}

}  // namespace uvtap
