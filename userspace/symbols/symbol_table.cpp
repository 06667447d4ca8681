// SPDX-License-Identifier: Apache-2.0
#include "userspace/symbols/symbol_table.h"

#include <elf.h>

#include <algorithm>
#include <array>

namespace uvtap {
namespace {

/// The wanted names by their offset in the string table. A name may stand there several times, and
/// in the tail of a longer one, which linkers reuse.
using NamesByOffset = std::map<uint64_t, std::string_view>;

/// A real table has a handful; a hostile one could hold nothing else.
constexpr size_t max_name_occurrences = 1024;

/// The wanted names, with a quick answer for the strings that end in another letter. The plain loop
/// is for hostile tables: searching for the next NUL is slow where every second byte is one.
class WantedNames {
 public:
  explicit WantedNames(std::span<const std::string_view> names) : names_(names) {
    for (const std::string_view name : names)
      last_letters_.at(static_cast<uint8_t>(name.back())) = true;
  }

  [[nodiscard]] size_t longest() const {
    return std::ranges::max(names_, {}, &std::string_view::size).size();
  }

  /// Notes each name that a NUL ends in text[from, …); `text` starts at `offset` in the table.
  void note(std::string_view text, size_t from, uint64_t offset, NamesByOffset& found) const {
    for (size_t end = std::max<size_t>(from, 1); end < text.size(); ++end) {
      if (text[end] != '\0' || !last_letters_[static_cast<uint8_t>(text[end - 1])]) continue;
      for (const std::string_view name : names_) {
        if (text.substr(0, end).ends_with(name)) found.emplace(offset + end - name.size(), name);
      }
    }
  }

 private:
  std::span<const std::string_view> names_;
  std::array<bool, 256> last_letters_{};
};

Result<NamesByOffset> find_names(const RegularFile& file, FileRange strings,
                                 const WantedNames& wanted) {
  NamesByOffset names;
  const uint64_t longest = wanted.longest();
  std::string text;
  for (uint64_t start = 0; start < strings.size; start += RegularFile::piece_bytes) {
    // Each piece is read with the end of the one before it, where a name may begin.
    const uint64_t overlap = std::min(start, longest);
    text.resize(overlap + std::min(RegularFile::piece_bytes, strings.size - start));
    auto read =
        file.read(strings.offset + start - overlap, std::as_writable_bytes(std::span(text)));
    if (!read) return std::unexpected(read.error());
    wanted.note(text, overlap, start - overlap, names);
    if (names.size() > max_name_occurrences) return fail("repeats a name without end");
  }
  return names;
}

/// Indirect functions are left out: st_value is their resolver.
bool is_defined(const Elf64_Sym& symbol) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_OBJECT);
}

Result<void> check(const RegularFile& file, const SymbolTable& table) {
  if (table.symbols.size > max_symbols_size) return fail("has too large a symbol table");
  if (table.strings.size > max_strings_size) return fail("has too large a string table");
  if (!file.contains(table.symbols)) return fail("has a symbol table past its end");
  if (!file.contains(table.strings)) return fail("has a string table past its end");
  return {};
}

}  // namespace

Result<SymbolAddresses> find_symbols(const RegularFile& file, const SymbolTable& table,
                                     std::span<const std::string_view> wanted) {
  SymbolAddresses found;
  if (wanted.empty()) return found;
  if (auto fine = check(file, table); !fine) return std::unexpected(fine.error());
  const auto names = find_names(file, table.strings, WantedNames(wanted));
  if (!names) return std::unexpected(names.error());
  if (names->empty()) return found;

  auto visited =
      file.visit_array<Elf64_Sym>(table.symbols.offset, table.symbols.size / sizeof(Elf64_Sym),
                                  [&](std::span<const Elf64_Sym> symbols) {
                                    for (const Elf64_Sym& symbol : symbols) {
                                      if (!is_defined(symbol)) continue;
                                      const auto name = names->find(symbol.st_name);
                                      if (name != names->end())
                                        found.emplace(name->second, symbol.st_value);
                                    }
                                    return found.size() < wanted.size();
                                  });
  if (!visited) return std::unexpected(visited.error());
  return found;
}

}  // namespace uvtap
