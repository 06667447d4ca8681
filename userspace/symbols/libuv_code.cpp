// SPDX-License-Identifier: Apache-2.0
//
// Two facts about a libuv stand only in its code: the version that uv_version returns, and the
// address of the static default_loop_ptr that uv_default_loop loads first. Both functions begin
// with at most a short prologue. As compiled in official Node builds and in Debian's libuv1:
//
//   uv_version       mov $0x13401,%eax; ret                                      (Node 12 to 24)
//                    push %rbp; mov %rsp,%rbp; mov $0x13401,%eax; pop %rbp; ret  (Node 26)
//   uv_default_loop  push %rbp; mov %rsp,%rbp; push %rbx|%r12; sub $8,%rsp;
//                    mov default_loop_ptr(%rip),%rbx|%r12                        (Node 12 to 24)
//                    push %rbp; push %rbx; sub $8,%rsp; mov …(%rip),%rbx         (Debian)
//                    mov default_loop_ptr(%rip),%rax                             (Node 26)
//
// Only these instructions are stepped over; anything else is an error rather than a guess.
#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>

#include "userspace/symbols/libuv_layout.h"

namespace uvtap {
namespace {

/// The first bytes of a function, and how far they are understood.
class CodeReader {
 public:
  static Result<CodeReader> open(const ElfFile& file, uint64_t address) {
    CodeReader code;
    const auto length = file.read_some(address, std::as_writable_bytes(std::span(code.bytes_)));
    if (!length) return std::unexpected(length.error());
    code.length_ = *length;
    return code;
  }

  /// Steps over these bytes if they come next.
  bool skip(std::initializer_list<uint8_t> expected) {
    const auto next = rest();
    if (next.size() < expected.size()) return false;
    if (!std::equal(expected.begin(), expected.end(), next.begin())) return false;
    position_ += expected.size();
    return true;
  }

  /// Steps over one byte that has these bits under the mask, if it comes next.
  bool skip_masked(uint8_t mask, uint8_t bits) {
    if (rest().empty() || (rest().front() & mask) != bits) return false;
    ++position_;
    return true;
  }

  /// Takes the next bytes, if there are enough, as a little-endian number.
  template <typename T>
  bool take(T& number) {
    if (rest().size() < sizeof(T)) return false;
    std::memcpy(&number, rest().data(), sizeof(T));
    position_ += sizeof(T);
    return true;
  }

  [[nodiscard]] size_t position() const { return position_; }

 private:
  [[nodiscard]] std::span<const uint8_t> rest() const {
    return std::span(bytes_).first(length_).subspan(position_);
  }

  std::array<uint8_t, 64> bytes_{};
  size_t length_ = 0;
  size_t position_ = 0;
};

/// push of any 64-bit register: [REX.B] 50+r.
bool skip_push(CodeReader& code) {
  CodeReader attempt = code;
  attempt.skip({0x41});
  if (!attempt.skip_masked(0xf8, 0x50)) return false;
  code = attempt;
  return true;
}

/// sub $imm8,%rsp.
bool skip_stack_reservation(CodeReader& code) {
  uint8_t size = 0;
  return code.skip({0x48, 0x83, 0xec}) && code.take(size);
}

void skip_prologue(CodeReader& code) {
  code.skip({0xf3, 0x0f, 0x1e, 0xfa});  // endbr64
  while (skip_push(code) || code.skip({0x48, 0x89, 0xe5}) /* mov %rsp,%rbp */ ||
         skip_stack_reservation(code)) {
  }
}

/// mov disp32(%rip),%r64: REX.W [REX.R], 8b, ModRM with mod 00 and r/m 101. The displacement counts
/// from the end of the instruction.
bool take_rip_relative_load(CodeReader& code, int32_t& displacement) {
  return code.skip_masked(0xfb, 0x48) && code.skip({0x8b}) && code.skip_masked(0xc7, 0x05) &&
         code.take(displacement);
}

}  // namespace

Result<LibuvVersion> read_libuv_version(const ElfFile& file, uint64_t uv_version) {
  auto code = CodeReader::open(file, uv_version);
  if (!code) return std::unexpected(code.error());
  skip_prologue(*code);
  uint32_t version = 0;
  bool understood = code->skip({0xb8}) && code->take(version);  // mov $imm32,%eax
  code->skip({0x5d});                                           // pop %rbp
  understood = understood && code->skip({0xc3});                // ret
  if (!understood) return fail("has a uv_version of unknown code");
  if (version > 0xffffff) return fail("has an impossible libuv version {:#x}", version);
  return LibuvVersion{.major = static_cast<uint8_t>(version >> 16),
                      .minor = static_cast<uint8_t>(version >> 8),
                      .patch = static_cast<uint8_t>(version)};
}

Result<uint64_t> read_default_loop_pointer(const ElfFile& file, uint64_t uv_default_loop) {
  auto code = CodeReader::open(file, uv_default_loop);
  if (!code) return std::unexpected(code.error());
  skip_prologue(*code);
  int32_t displacement = 0;
  if (!take_rip_relative_load(*code, displacement)) {
    return fail("has a uv_default_loop of unknown code");
  }
  const uint64_t next_instruction = uv_default_loop + code->position();
  return next_instruction + static_cast<uint64_t>(int64_t{displacement});
}

}  // namespace uvtap
