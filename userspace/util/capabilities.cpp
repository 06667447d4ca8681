// SPDX-License-Identifier: Apache-2.0
#include "userspace/util/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

namespace uvtap {
namespace {

struct Sets {
  CapabilitySet effective, permitted, inheritable;
};

/// The kernel's form: two halves of 32 bits.
using Halves = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

__user_cap_header_struct this_thread() { return {_LINUX_CAPABILITY_VERSION_3, 0}; }

CapabilitySet join(uint32_t low, uint32_t high) {
  return CapabilitySet::from_bits(uint64_t{high} << 32 | low);
}

Sets get_sets() {
  auto header = this_thread();
  Halves halves{};
  if (syscall(SYS_capget, &header, halves.data()) != 0) return {};
  const auto& [low, high] = halves;
  return {join(low.effective, high.effective), join(low.permitted, high.permitted),
          join(low.inheritable, high.inheritable)};
}

bool set_sets(const Sets& sets) {
  auto header = this_thread();
  Halves halves{};
  for (unsigned half = 0; half < halves.size(); ++half) {
    const auto part = [&](CapabilitySet set) {
      return static_cast<uint32_t>(set.bits() >> (32 * half));
    };
    halves[half] = {part(sets.effective), part(sets.permitted), part(sets.inheritable)};
  }
  return syscall(SYS_capset, &header, halves.data()) == 0;
}

/// Every capability that this kernel knows.
Result<void> reduce_bounding_set(CapabilitySet keep) {
  for (int each = 0; prctl(PR_CAPBSET_READ, each, 0, 0, 0) >= 0; ++each)
    if (!keep.has(each) && prctl(PR_CAPBSET_DROP, each, 0, 0, 0) != 0)
      return fail_errno(errno, "cannot reduce the bounding set of capabilities");
  return {};
}

std::string name_of(int capability) {
  constexpr std::array<std::pair<int, std::string_view>, 6> names = {
      {{CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"},
       {CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
       {CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
       {CAP_PERFMON, "CAP_PERFMON"},
       {CAP_BPF, "CAP_BPF"},
       {CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE"}}};
  for (const auto& [number, name] : names)
    if (number == capability) return std::string(name);
  return fmt::format("capability {}", capability);
}

}  // namespace

std::string to_string(CapabilitySet set) {
  std::string text;
  for (int each = 0; each < 64; ++each) {
    if (!set.has(each)) continue;
    if (!text.empty()) text += ", ";
    text += name_of(each);
  }
  return text;
}

CapabilitySet effective_capabilities() { return get_sets().effective; }

Result<void> keep_only(CapabilitySet set) {
  const Sets held = get_sets();
  if (held.effective.has(CAP_SETPCAP))
    if (auto reduced = reduce_bounding_set(set); !reduced) return reduced;
  if (!set_sets({held.effective & set, held.permitted & set, {}}))
    return fail_errno(errno, "cannot give up capabilities");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail_errno(errno, "cannot rule out new privileges");
  return {};
}

Result<void> drop_all_in_this_thread() { return keep_only({}); }

WithoutCapabilities::WithoutCapabilities(CapabilitySet set) : before_(effective_capabilities()) {
  const Sets held = get_sets();
  set_sets({before_.without(set), held.permitted, held.inheritable});
}

WithoutCapabilities::~WithoutCapabilities() {
  const Sets held = get_sets();
  set_sets({before_, held.permitted, held.inheritable});
}

}  // namespace uvtap
