// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace uvtap {

using BucketBounds = std::span<const uint64_t>;

// The upper bounds (`le`) of the exposed histograms, in nanoseconds; +Inf follows each list. They
// are part of the contract: a changed bound breaks the rates that users compute across restarts.

/// Busy stretches: 1-2.5-5 steps. Most turns take less than a millisecond.
inline constexpr std::array<uint64_t, 17> turn_bounds_ns{
    100'000,       250'000,       500'000,       1'000'000,      2'500'000,     5'000'000,
    10'000'000,    25'000'000,    50'000'000,    100'000'000,    250'000'000,   500'000'000,
    1'000'000'000, 2'500'000'000, 5'000'000'000, 10'000'000'000, 30'000'000'000};

/// Waits: the same steps from one millisecond on, which is what a wait is counted in.
inline constexpr std::array<uint64_t, 14> wait_bounds_ns{
    1'000'000,     2'500'000,     5'000'000,      10'000'000,    25'000'000,
    50'000'000,    100'000'000,   250'000'000,    500'000'000,   1'000'000'000,
    2'500'000'000, 5'000'000'000, 10'000'000'000, 30'000'000'000};

/// Delays: an idle application reads a little over the timer's 20 ms, so that is where the steps
/// are finest.
inline constexpr std::array<uint64_t, 17> delay_bounds_ns{
    10'000'000,    20'000'000,    21'000'000,     22'000'000,     25'000'000,    30'000'000,
    40'000'000,    60'000'000,    100'000'000,    200'000'000,    500'000'000,   1'000'000'000,
    2'000'000'000, 5'000'000'000, 10'000'000'000, 20'000'000'000, 30'000'000'000};

}  // namespace uvtap
