// SPDX-License-Identifier: Apache-2.0
// Writes the seeds of elf_image_fuzz into the folder that is named: small files in each form that
// uvtap knows how to read.
#include <fstream>
#include <string>

#include "tests/support/tiny_elf.h"

using namespace uvtap::test;

namespace {

const TinyElf node{
    .exported = {{"_ZN4node5StartEiPPc", tiny_code_address},
                 {"_ZN4node11per_process8metadataE", tiny_code_address + 24, STT_OBJECT},
                 {"uv_version", tiny_code_address},
                 {"uv_default_loop", tiny_code_address + 8},
                 {"uv_run", tiny_code_address + 16},
                 {"epoll_pwait", 0, STT_FUNC, false}},
    .local = {{"uv__io_poll", tiny_code_address + 20}},
    .code = {0xb8, 0x01, 0x34, 0x01, 0x00, 0xc3, 0x90, 0x90,  // mov $0x13401,%eax; ret
             0x48, 0x8b, 0x05, 0x10, 0x00, 0x00, 0x00, 0xc3,  // mov 0x10(%rip),%rax; ret
             0x55, 0xc3, 0x90, 0x90, 0xc3, 0x90, 0x90, 0x90, 0, 0, 0, 0}};

void write(const std::string& path, const TinyElf& elf) {
  const TinyImage image = build(elf);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(image.bytes.data()),
             static_cast<std::streamsize>(image.bytes.size()));
}

TinyElf without_sections(TinyHash hash) {
  TinyElf elf = node;
  elf.section_headers = false;
  elf.hash = hash;
  return elf;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string(argv[1]) + "/";
  write(folder + "node", node);
  write(folder + "gnu_hash", without_sections(TinyHash::gnu));
  write(folder + "sysv_hash", without_sections(TinyHash::sysv));
  write(folder + "no_hash", without_sections(TinyHash::none));
  write(folder + "libc",
        {.exported = {{"epoll_wait", tiny_code_address}, {"epoll_pwait", tiny_code_address + 1}},
         .code = {0xc3, 0xc3}});
}
