// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/read_user.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <span>
#include <vector>

#include "uvtap.skel.h"

namespace uvtap {
namespace {

/// Of the programs that read memory, as bpf/uvtap.bpf.c names their sections.
struct Section {
  const char* name;
  bpf_prog_type program_type;
  bpf_attach_type attach_type;
};
constexpr Section reading_sections[] = {
    {"uprobe", BPF_PROG_TYPE_KPROBE, bpf_attach_type{}},
    {"tracepoint", BPF_PROG_TYPE_TRACEPOINT, bpf_attach_type{}},
    {"tp_btf/signal_deliver", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP},
};

bool calls_helper(const bpf_insn& instruction, bpf_func_id helper) {
  return instruction.code == (BPF_JMP | BPF_CALL) && instruction.src_reg == 0 &&
         instruction.imm == helper;
}

/// Runs between libbpf's replacing and the loading. uvtap never calls bpf_probe_read itself.
int restore_calls(bpf_program* program, bpf_prog_load_opts*, long) {
  const std::span loaded(bpf_program__insns(program), bpf_program__insn_cnt(program));
  std::vector<bpf_insn> instructions(loaded.begin(), loaded.end());
  for (bpf_insn& instruction : instructions)
    if (calls_helper(instruction, BPF_FUNC_probe_read)) instruction.imm = BPF_FUNC_probe_read_user;
  return bpf_program__set_insns(program, instructions.data(), instructions.size());
}

Result<void> register_sections() {
  libbpf_prog_handler_opts options{};
  options.sz = sizeof(options);
  options.prog_prepare_load_fn = restore_calls;
  for (const Section& each : reading_sections)
    if (const int id =
            libbpf_register_prog_handler(each.name, each.program_type, each.attach_type, &options);
        id < 0)
      return fail_errno(-id, "libbpf takes no other way to load {}", each.name);
  return {};
}

}  // namespace

Result<void> keep_bpf_probe_read_user() {
  static const Result<void> registered = register_sections();
  return registered;
}

int find_tracepoints(uvtap_bpf& skeleton) {
  return bpf_program__set_attach_target(skeleton.progs.on_signal_deliver, 0, "signal_deliver");
}

}  // namespace uvtap
