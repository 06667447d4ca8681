// SPDX-License-Identifier: Apache-2.0
#include "userspace/symbols/dynamic_section.h"

#include <elf.h>

#include <algorithm>
#include <map>

namespace uvtap {
namespace {

/// A library has about thirty.
constexpr uint64_t max_dynamic_entries = 4096;
constexpr uint64_t max_symbols = max_symbols_size / sizeof(Elf64_Sym);

/// d_un by d_tag.
using DynamicEntries = std::map<Elf64_Sxword, uint64_t>;

Result<DynamicEntries> read_entries(const RegularFile& file, FileRange dynamic) {
  DynamicEntries entries;
  const uint64_t count = std::min(dynamic.size / sizeof(Elf64_Dyn), max_dynamic_entries);
  auto visited = file.visit_array<Elf64_Dyn>(dynamic.offset, count,
                                             [&entries](std::span<const Elf64_Dyn> piece) {
                                               for (const Elf64_Dyn& entry : piece) {
                                                 if (entry.d_tag == DT_NULL) return false;
                                                 entries.emplace(entry.d_tag, entry.d_un.d_val);
                                               }
                                               return true;
                                             });
  if (!visited) return std::unexpected(visited.error());
  return entries;
}

/// DT_HASH: two words, the number of buckets and that of chain links; each symbol has a link.
Result<uint64_t> count_by_sysv_hash(const RegularFile& file, FileRange table) {
  const auto chain_count = file.read_object<uint32_t>(table.offset + sizeof(uint32_t));
  if (!chain_count) return std::unexpected(chain_count.error());
  return *chain_count;
}

/// DT_GNU_HASH: this header, the bloom filter (64-bit words), the buckets, the chains (32-bit words
/// each). A bucket holds the first symbol of its chain; the last link of a chain has bit 0 set.
struct GnuHashHeader {
  uint32_t bucket_count;
  uint32_t first_symbol;
  uint32_t bloom_count;
  uint32_t bloom_shift;
};

Result<uint64_t> highest_bucket(const RegularFile& file, uint64_t offset, uint64_t count) {
  uint32_t highest = 0;
  auto visited = file.visit_array<uint32_t>(offset, count, [&](std::span<const uint32_t> buckets) {
    highest = std::max(highest, std::ranges::max(buckets));
    return true;
  });
  if (!visited) return std::unexpected(visited.error());
  return highest;
}

/// The number of links up to the one that ends the chain.
Result<uint64_t> chain_length(const RegularFile& file, FileRange chain) {
  uint64_t length = 0;
  bool ended = false;
  const uint64_t limit = std::min(chain.size / sizeof(uint32_t), max_symbols);
  auto visited =
      file.visit_array<uint32_t>(chain.offset, limit, [&](std::span<const uint32_t> links) {
        const auto last = std::ranges::find_if(links, [](uint32_t link) { return link & 1; });
        ended = last != links.end();
        length += static_cast<uint64_t>(last - links.begin()) + (ended ? 1 : 0);
        return !ended;
      });
  if (!visited) return std::unexpected(visited.error());
  if (!ended) return fail("has a hash chain without end");
  return length;
}

/// The highest symbol is the last one of the chain that starts highest.
Result<uint64_t> count_by_gnu_hash(const RegularFile& file, FileRange table) {
  const auto header = file.read_object<GnuHashHeader>(table.offset);
  if (!header) return std::unexpected(header.error());
  if (header->bucket_count > max_symbols) return fail("has too large a hash table");
  const uint64_t buckets =
      sizeof(GnuHashHeader) + (uint64_t{header->bloom_count} * sizeof(uint64_t));
  const uint64_t chains = buckets + (uint64_t{header->bucket_count} * sizeof(uint32_t));
  if (chains > table.size) return fail("has a hash table past the end of its segment");

  const auto highest = highest_bucket(file, table.offset + buckets, header->bucket_count);
  if (!highest) return highest;
  if (*highest < header->first_symbol) return header->first_symbol;
  const uint64_t chain = chains + ((*highest - header->first_symbol) * sizeof(uint32_t));
  if (chain > table.size) return fail("has a hash chain past the end of its segment");
  const auto length = chain_length(file, {table.offset + chain, table.size - chain});
  if (!length) return length;
  return *highest + *length;
}

Result<uint64_t> count_symbols(const RegularFile& file, std::span<const ElfSegment> segments,
                               const DynamicEntries& entries) {
  const auto gnu_hash = entries.find(DT_GNU_HASH);
  const auto hash = gnu_hash != entries.end() ? gnu_hash : entries.find(DT_HASH);
  if (hash == entries.end()) return fail("has no hash table to count its dynamic symbols by");
  const auto table = file_range_from(segments, hash->second);
  if (!table) return std::unexpected(table.error());
  return hash == gnu_hash ? count_by_gnu_hash(file, *table) : count_by_sysv_hash(file, *table);
}

}  // namespace

Result<SymbolTable> read_dynamic_section(const RegularFile& file,
                                         std::span<const ElfSegment> segments, FileRange dynamic) {
  const auto entries = read_entries(file, dynamic);
  if (!entries) return std::unexpected(entries.error());
  const auto symbols = entries->find(DT_SYMTAB);
  const auto strings = entries->find(DT_STRTAB);
  const auto strings_size = entries->find(DT_STRSZ);
  if (symbols == entries->end() || strings == entries->end() || strings_size == entries->end()) {
    return SymbolTable{};
  }
  const auto symbols_range = file_range_from(segments, symbols->second);
  if (!symbols_range) return std::unexpected(symbols_range.error());
  const auto strings_range = file_range_from(segments, strings->second);
  if (!strings_range) return std::unexpected(strings_range.error());
  const auto count = count_symbols(file, segments, *entries);
  if (!count) return std::unexpected(count.error());
  return SymbolTable{.symbols = {symbols_range->offset, *count * sizeof(Elf64_Sym)},
                     .strings = {strings_range->offset, strings_size->second}};
}

}  // namespace uvtap
