# SPDX-License-Identifier: Apache-2.0
"""Runs commands with fewer privileges than root has, and tells which ones a process holds."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from .nodes import Node

# As linux/capability.h numbers them.
NUMBERS = {
    "dac_read_search": 2, "sys_ptrace": 19, "sys_admin": 21, "perfmon": 38, "bpf": 39,
    "checkpoint_restore": 40,
}  # fmt: skip

# Makes bpf(2) fail as the default profiles of container runtimes do, then executes the rest.
_FORBID_BPF = """
import ctypes, os, struct, sys
LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
BPF, EPERM, ALLOW, ERRNO = 321, 1, 0x7FFF0000, 0x00050000
code = b"".join(struct.pack("HBBI", *each) for each in (
    (LOAD_NUMBER, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, BPF), (RETURN, 0, 0, ERRNO | EPERM),
    (RETURN, 0, 0, ALLOW)))
filters = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxQ", 4, ctypes.addressof(filters))
PR_SET_SECCOMP, FILTER = 22, 2
if ctypes.CDLL(None).prctl(PR_SET_SECCOMP, FILTER, ctypes.c_char_p(program), 0, 0) != 0:
    sys.exit("cannot install a seccomp filter")
os.execvp(sys.argv[1], sys.argv[1:])
"""


def with_only(*capabilities: str) -> list[str]:
    """A command that executes the one that follows it as root with just these capabilities."""
    bounding = ",".join(["-all", *(f"+{each}" for each in capabilities)])
    return ["setpriv", "--bounding-set", bounding, "--inh-caps=-all", "--no-new-privs"]


def without_bpf() -> list[str]:
    """A command that executes the one that follows it where seccomp forbids bpf(2)."""
    return [sys.executable, "-c", _FORBID_BPF]


@dataclass(frozen=True)
class NodeOfUser(Node):
    """A build that runs under another user than root."""

    uid: int = 1000

    def command(self, program: str, *arguments: str) -> list[str]:
        user = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups"]
        return user + super().command(program, *arguments)


@dataclass(frozen=True)
class Held:
    """The capabilities of one thread."""

    effective: set[str]
    permitted: set[str]
    inheritable: set[str]
    bounding: set[str]
    no_new_privs: bool


def thread_name(pid: int, tid: int) -> str:
    return Path(f"/proc/{pid}/task/{tid}/comm").read_text().strip()


def held_by_threads(pid: int) -> dict[int, Held]:
    """By thread. Those that uvtap has no use for go by number."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {int(task.name): _held((task / "status").read_text()) for task in tasks}


def _held(status: str) -> Held:
    def capabilities(name: str) -> set[str]:
        bits = int(re.search(rf"^{name}:\s+(\w+)", status, re.MULTILINE)[1], 16)
        names = {number: name for name, number in NUMBERS.items()}
        return {names.get(each, str(each)) for each in range(64) if bits >> each & 1}

    return Held(
        effective=capabilities("CapEff"),
        permitted=capabilities("CapPrm"),
        inheritable=capabilities("CapInh"),
        bounding=capabilities("CapBnd"),
        no_new_privs="NoNewPrivs:\t1" in status,
    )
