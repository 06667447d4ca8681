// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "userspace/symbols/regular_file.h"
#include "userspace/util/result.h"

namespace uvtap {

/// One loadable segment: where a part of the file stands in memory.
struct ElfSegment {
  uint64_t address = 0;  ///< p_vaddr
  uint64_t file_offset = 0;
  uint64_t file_size = 0;
  uint64_t memory_size = 0;
  bool executable = false;
};

/// What the file holds from this linked address to the end of its segment; never empty. Fails for
/// an address outside the segments, or in the part (.bss) that the file does not hold.
[[nodiscard]] Result<FileRange> file_range_from(std::span<const ElfSegment> segments,
                                                uint64_t address);

}  // namespace uvtap
