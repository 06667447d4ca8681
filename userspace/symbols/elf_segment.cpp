// SPDX-License-Identifier: Apache-2.0
#include "userspace/symbols/elf_segment.h"

namespace uvtap {

Result<FileRange> file_range_from(std::span<const ElfSegment> segments, uint64_t address) {
  for (const ElfSegment& segment : segments) {
    if (address < segment.address) continue;
    const uint64_t distance = address - segment.address;
    if (distance >= segment.file_size) continue;
    return FileRange{segment.file_offset + distance, segment.file_size - distance};
  }
  return fail("holds nothing for address {:#x}", address);
}

}  // namespace uvtap
