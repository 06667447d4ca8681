// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/uprobe_multi.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace uvtap {
namespace {

/// union bpf_attr, as BPF_LINK_CREATE of such a link reads it (include/uapi/linux/bpf.h).
struct LinkCreate {
  uint32_t program_fd = 0;
  uint32_t target_fd = 0;
  uint32_t attach_type = uprobe_multi_attach_type;
  uint32_t link_flags = 0;
  uint64_t path = 0;
  uint64_t offsets = 0;
  uint64_t reference_counter_offsets = 0;
  uint64_t cookies = 0;
  uint32_t count = 0;
  uint32_t flags = 0;
  uint32_t pid = 0;  ///< 0: every process
  uint32_t pad = 0;
};
static_assert(offsetof(LinkCreate, path) == 16 && offsetof(LinkCreate, pid) == 56);

template <typename T>
uint64_t user_address(const T* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

UniqueFd load_empty_program() {
  constexpr std::array<bpf_insn, 2> return_zero = {
      bpf_insn{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
      bpf_insn{.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
  bpf_prog_load_opts options{};
  options.sz = sizeof(options);
  options.expected_attach_type = static_cast<bpf_attach_type>(uprobe_multi_attach_type);
  return UniqueFd(bpf_prog_load(BPF_PROG_TYPE_KPROBE, nullptr, "GPL", return_zero.data(),
                                return_zero.size(), &options));
}

/// 0 stands for a link, which nobody expects.
int errno_of_linking_to_root_directory(const UniqueFd& program, uint32_t pid) {
  const uint64_t offset = 0;
  LinkCreate attributes;
  attributes.program_fd = static_cast<uint32_t>(program.get());
  attributes.path = user_address("/");
  attributes.offsets = user_address(&offset);
  attributes.count = 1;
  attributes.pid = pid;
  const UniqueFd link(
      static_cast<int>(syscall(SYS_bpf, BPF_LINK_CREATE, &attributes, sizeof(attributes))));
  return link.valid() ? 0 : errno;
}

}  // namespace

bool has_uprobe_multi() {
  // A directory cannot be probed: EBADF says that the kernel understood what is wanted. A kernel
  // that filters by process refuses the pid -1 before it looks at the path. libbpf 1.5 asks so too.
  const UniqueFd program = load_empty_program();
  return program.valid() && errno_of_linking_to_root_directory(program, 0) == EBADF &&
         errno_of_linking_to_root_directory(program, static_cast<uint32_t>(-1)) == EINVAL;
}

UniqueFd create_uprobe_multi_link(int program_fd, const std::string& path, uint64_t file_offset,
                                  pid_t pid) {
  LinkCreate attributes;
  attributes.program_fd = static_cast<uint32_t>(program_fd);
  attributes.path = user_address(path.c_str());
  attributes.offsets = user_address(&file_offset);
  attributes.count = 1;
  attributes.pid = pid == -1 ? 0 : static_cast<uint32_t>(pid);
  return UniqueFd(
      static_cast<int>(syscall(SYS_bpf, BPF_LINK_CREATE, &attributes, sizeof(attributes))));
}

}  // namespace uvtap
