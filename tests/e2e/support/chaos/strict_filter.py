#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executes a command under a seccomp filter that kills it for any system call that Node.js has no
use for: those by which processes are traced, those that only root makes, and numbers that an older
kernel does not know, among them those of uprobes' and uretprobes' trampolines (335 and 336)."""

import ctypes
import os
import struct
import sys

LOAD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER_AT, ARCHITECTURE_AT = 0, 4
X86_64 = 0xC000003E
ALLOW, KILL_PROCESS = 0x7FFF0000, 0x80000000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2

# ptrace, process_vm_readv and _writev, perf_event_open, bpf, userfaultfd, setns, unshare, mount,
# umount2, pivot_root, init_module, finit_module, kexec_load, process_madvise
FORBIDDEN = (101, 310, 311, 298, 321, 323, 308, 272, 165, 166, 155, 175, 313, 246, 440)
RANGES = ((335, 424), (463, 1 << 32))  # from, up to


def _program() -> bytes:
    kill, allow = (RETURN, 0, 0, KILL_PROCESS), (RETURN, 0, 0, ALLOW)
    code = [(LOAD, 0, 0, ARCHITECTURE_AT), (JUMP_IF_EQUAL, 1, 0, X86_64), kill]
    code.append((LOAD, 0, 0, NUMBER_AT))
    for number in FORBIDDEN:
        code += [(JUMP_IF_EQUAL, 0, 1, number), kill]
    for first, end in RANGES:
        code.append((JUMP_IF_AT_LEAST, 0, 2 if end < 1 << 32 else 1, first))
        if end < 1 << 32:
            code.append((JUMP_IF_AT_LEAST, 1, 0, end))
        code.append(kill)
    return b"".join(struct.pack("HBBI", *each) for each in [*code, allow])


def main() -> None:
    code = _program()
    instructions = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(instructions))
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.c_char_p(program), 0, 0) != 0:
        sys.exit("cannot install a seccomp filter")
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
