// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "userspace/symbols/regular_file.h"
#include "userspace/util/result.h"

namespace uvtap {

/// Symbols by name; the value is st_value, an address as linked, not a file offset.
using SymbolAddresses = std::map<std::string, uint64_t, std::less<>>;

/// Where an array of Elf64_Sym and its names stand in a file; both empty where there is none.
struct SymbolTable {
  FileRange symbols;
  FileRange strings;
};

/// More than Node ever had: Node 26 has 4 MiB of symbols and 19 MiB of names. They bound the time
/// that a hostile file can take to one or two seconds.
inline constexpr uint64_t max_symbols_size = uint64_t{64} << 20;
inline constexpr uint64_t max_strings_size = uint64_t{128} << 20;

/// The defined functions and objects that have one of the wanted (non-empty) names; of several with
/// one name, the first. Fails where the table exceeds the limits or the file. Memory use does not
/// depend on the table's size.
[[nodiscard]] Result<SymbolAddresses> find_symbols(const RegularFile& file,
                                                   const SymbolTable& table,
                                                   std::span<const std::string_view> wanted);

}  // namespace uvtap
