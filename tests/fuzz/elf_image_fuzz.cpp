// SPDX-License-Identifier: Apache-2.0
// A file that a container maps: any bytes at all.
#include <array>

#include "tests/fuzz/fuzz.h"
#include "tests/support/memory_file.h"
#include "userspace/symbols/image.h"

using namespace uvtap;
using fuzz::require;

namespace {

constexpr std::array<std::string_view, 3> wanted{"uv_run", "uv_version", "epoll_wait"};

void check_offset(const std::optional<uint64_t>& offset, size_t size) {
  require(!offset || *offset < size, "a probe's offset stands in the file");
}

void check_image(const Image& image, size_t size) {
  check_offset(image.uv_run_offset, size);
  check_offset(image.io_poll_offset, size);
  check_offset(image.epoll_wait_offset, size);
  check_offset(image.epoll_pwait_offset, size);
  require(image.exports_uv_run || (!image.uv_run_offset && !image.io_poll_offset),
          "no libuv, no probe of libuv");
  require(image.first_load_address % 4096 == 0 && image.first_load_file_offset % 4096 == 0,
          "the first segment begins at a page");
}

/// What is read at an address is what the file has at that address's offset.
void check_reading(const ElfFile& file, uint64_t address, std::span<const std::byte> content) {
  std::array<std::byte, 64> read{};
  const auto length = file.read_some(address, read);
  const auto offset = file.file_offset_of(address);
  require(length.has_value() == offset.has_value(), "what has an offset can be read");
  require(!length || *length > 0, "it is something then");
  require(file.read_at(address, read).has_value() == (length && *length == read.size()),
          "read_at() reads all or nothing");
  if (!length) return;
  require(*offset < content.size() && *length <= content.size() - *offset, "inside of the file");
  require(std::ranges::equal(std::span(read).first(*length), content.subspan(*offset, *length)),
          "the file's bytes");
}

void check_symbols(const ElfFile& file, std::span<const std::byte> content) {
  for (const auto& found : {file.exported(wanted), file.local(wanted)}) {
    if (!found) continue;
    for (const auto& [name, address] : *found) {
      require(std::ranges::find(wanted, name) != wanted.end(), "only what was asked for");
      check_reading(file, address, content);
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static test::MemoryFile file;
  const auto content = std::as_bytes(std::span(data, size));
  file.resize(size);
  file.write(0, content);

  const auto image = read_image(file.path());
  if (image) check_image(*image, size);
  require(image || image.error().message.starts_with(file.path() + ' '), "an error names the file");

  const auto elf = ElfFile::open(file.path());
  require(elf || !image, "what has an image is ELF");
  if (!elf) return 0;
  for (const ElfSegment& segment : elf->segments()) {
    check_reading(*elf, segment.address, content);
    check_reading(*elf, segment.address + segment.file_size - 1, content);
    check_reading(*elf, segment.address + segment.file_size, content);
  }
  check_symbols(*elf, content);
  return 0;
}
