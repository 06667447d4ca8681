// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "userspace/util/result.h"

namespace uvtap {

/// A set of capabilities, numbered as in linux/capability.h.
class CapabilitySet {
 public:
  constexpr CapabilitySet() = default;
  constexpr CapabilitySet(std::initializer_list<int> capabilities) {
    for (const int capability : capabilities) bits_ |= uint64_t{1} << capability;
  }
  static constexpr CapabilitySet from_bits(uint64_t bits) {
    CapabilitySet set;
    set.bits_ = bits;
    return set;
  }

  [[nodiscard]] constexpr uint64_t bits() const { return bits_; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  [[nodiscard]] constexpr bool has(int capability) const { return (bits_ >> capability & 1) != 0; }
  [[nodiscard]] constexpr CapabilitySet operator&(CapabilitySet other) const {
    return from_bits(bits_ & other.bits_);
  }
  [[nodiscard]] constexpr CapabilitySet operator|(CapabilitySet other) const {
    return from_bits(bits_ | other.bits_);
  }
  [[nodiscard]] constexpr CapabilitySet without(CapabilitySet other) const {
    return from_bits(bits_ & ~other.bits_);
  }
  constexpr bool operator==(const CapabilitySet&) const = default;

 private:
  uint64_t bits_ = 0;
};

/// "CAP_SYS_ADMIN, CAP_BPF"; those that uvtap has nothing to do with by number.
[[nodiscard]] std::string to_string(CapabilitySet set);

// Capabilities belong to a thread, and a new thread inherits its creator's.

/// What the calling thread may do now.
[[nodiscard]] CapabilitySet effective_capabilities();

/// Gives up all others for good, in the calling thread: they leave the effective, permitted and
/// inheritable sets, and the bounding set where CAP_SETPCAP allows it. No program that it executes
/// can gain privileges either (no_new_privs).
[[nodiscard]] Result<void> keep_only(CapabilitySet set);

/// For threads that serve others and need no privilege.
[[nodiscard]] Result<void> drop_all_in_this_thread();

/// While it lives the calling thread does without these: to try what would work then.
class WithoutCapabilities {
 public:
  explicit WithoutCapabilities(CapabilitySet set);
  ~WithoutCapabilities();
  WithoutCapabilities(const WithoutCapabilities&) = delete;
  WithoutCapabilities& operator=(const WithoutCapabilities&) = delete;

 private:
  CapabilitySet before_;
};

}  // namespace uvtap
