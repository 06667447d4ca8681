// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "userspace/symbols/elf_segment.h"
#include "userspace/symbols/regular_file.h"
#include "userspace/symbols/symbol_table.h"
#include "userspace/util/result.h"

namespace uvtap {

/// Finds the dynamic symbol table the way the dynamic loader does, through the entries of
/// PT_DYNAMIC (`dynamic`): for files without section headers. The symbols are counted from the hash
/// table, the only place that tells their number. The result is not checked against the file yet.
[[nodiscard]] Result<SymbolTable> read_dynamic_section(const RegularFile& file,
                                                       std::span<const ElfSegment> segments,
                                                       FileRange dynamic);

}  // namespace uvtap
