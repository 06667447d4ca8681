# SPDX-License-Identifier: Apache-2.0
"""The system calls that a pod with seccompProfile RuntimeDefault may make.

The list is containers-common's. What depends on capabilities in it is containerd's (1.7 and later),
which allows the calls that see or change the machine only to those who hold one.
"""

import json
from functools import cache
from pathlib import Path

PROFILE = Path("/usr/share/containers/seccomp.json")

_ALLOWS = {
    "SYS_ADMIN": (
        "bpf", "clone3", "fanotify_init", "fsconfig", "fsmount", "fsopen", "fspick",
        "lookup_dcookie", "mount", "mount_setattr", "move_mount", "open_tree", "perf_event_open",
        "quotactl", "quotactl_fd", "setdomainname", "sethostname", "setns", "syslog", "umount",
        "umount2", "unshare",
    ),
    "BPF": ("bpf",),
    "PERFMON": ("perf_event_open",),
    "SYS_PTRACE": (
        "kcmp", "pidfd_getfd", "process_madvise", "process_vm_readv", "process_vm_writev", "ptrace",
    ),
    "SYS_CHROOT": ("chroot",),
    "DAC_READ_SEARCH": ("open_by_handle_at",),
}  # fmt: skip


def runtime_default(capabilities: tuple[str, ...]) -> dict:
    """As the runtime specification has it, for a container that holds these."""
    by_capability = {name for names in _ALLOWS.values() for name in names}
    always = [rule for rule in _rules() if rule["action"] == "SCMP_ACT_ALLOW"]
    rules = [{**rule, "names": _without(rule["names"], by_capability)} for rule in always]
    held = {name for each in capabilities for name in _ALLOWS.get(each, ())}
    rules.append({"names": sorted(held), "action": "SCMP_ACT_ALLOW"})
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"],
        # What uses clone3 falls back to clone only if it is told that there is no such call.
        "syscalls": rules + ([] if "clone3" in held else [_missing("clone3")]),
    }


def _without(names: list[str], others: set[str]) -> list[str]:
    return [name for name in names if name not in others]


def _missing(name: str) -> dict:
    return {"names": [name], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}


@cache
def _rules() -> list[dict]:
    """Those that hold on this architecture, whatever the capabilities."""
    rules = json.loads(PROFILE.read_text())["syscalls"]
    return [
        {"names": rule["names"], "action": rule["action"], "args": rule.get("args") or []}
        for rule in rules
        if "caps" not in rule["includes"]
        and "amd64" in rule["includes"].get("arches", ["amd64"])
    ]
