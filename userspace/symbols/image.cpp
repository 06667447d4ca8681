// SPDX-License-Identifier: Apache-2.0
#include "userspace/symbols/image.h"

#include <array>
#include <string_view>

namespace uvtap {
namespace {

constexpr std::string_view node_start = "_ZN4node5StartEiPPc";
constexpr std::string_view node_metadata = "_ZN4node11per_process8metadataE";
constexpr std::string_view uv_run = "uv_run";
constexpr std::string_view uv_version = "uv_version";
constexpr std::string_view uv_default_loop = "uv_default_loop";
constexpr std::string_view uv_io_poll = "uv__io_poll";
constexpr std::string_view epoll_wait = "epoll_wait";
constexpr std::string_view epoll_pwait = "epoll_pwait";

constexpr std::array exported_names{node_start,      node_metadata, uv_run,     uv_version,
                                    uv_default_loop, epoll_wait,    epoll_pwait};
constexpr std::array local_names{uv_io_poll};

constexpr uint64_t page_mask = ~uint64_t{0xfff};

std::optional<uint64_t> address_of(const SymbolAddresses& symbols, std::string_view name) {
  const auto symbol = symbols.find(name);
  if (symbol == symbols.end()) return std::nullopt;
  return symbol->second;
}

/// A symbol that stands nowhere in the file is as good as none.
std::optional<uint64_t> offset_of(const ElfFile& file, const SymbolAddresses& symbols,
                                  std::string_view name) {
  const auto address = address_of(symbols, name);
  if (!address) return std::nullopt;
  const auto offset = file.file_offset_of(*address);
  return offset ? std::optional(*offset) : std::nullopt;
}

/// What `read(file, address of the symbol)` gives; nothing where it is not there or not understood.
template <typename T>
std::optional<T> read_from(const ElfFile& file, const SymbolAddresses& symbols,
                           std::string_view name, Result<T> (*read)(const ElfFile&, uint64_t)) {
  const auto address = address_of(symbols, name);
  if (!address) return std::nullopt;
  const auto value = read(file, *address);
  return value ? std::optional(*value) : std::nullopt;
}

Result<Image> describe(const ElfFile& file) {
  const auto exported = file.exported(exported_names);
  if (!exported) return std::unexpected(exported.error());

  Image image;
  image.exports_node_start = exported->contains(node_start);
  image.exports_uv_run = exported->contains(uv_run);
  image.uv_run_offset = offset_of(file, *exported, uv_run);
  image.epoll_wait_offset = offset_of(file, *exported, epoll_wait);
  image.epoll_pwait_offset = offset_of(file, *exported, epoll_pwait);
  image.libuv_version = read_from(file, *exported, uv_version, read_libuv_version);
  image.default_loop_pointer =
      read_from(file, *exported, uv_default_loop, read_default_loop_pointer);
  image.node_metadata = address_of(*exported, node_metadata);
  const ElfSegment& first = file.segments().front();
  image.first_load_address = first.address & page_mask;
  image.first_load_file_offset = first.file_offset & page_mask;
  if (!image.exports_uv_run) return image;

  // Node's .symtab and its names are some 25 MB: read only where there is a libuv.
  const auto local = file.local(local_names);
  if (!local) return std::unexpected(local.error());
  image.io_poll_offset = offset_of(file, *local, uv_io_poll);
  return image;
}

}  // namespace

Result<Image> read_image(const std::string& path) {
  const auto file = ElfFile::open(path);
  if (!file) return fail("{} {}", path, file.error().message);
  auto image = describe(*file);
  if (!image) return fail("{} {}", path, image.error().message);
  return image;
}

}  // namespace uvtap
