# SPDX-License-Identifier: Apache-2.0
"""What runc is told about a container: the runtime specification of the Open Container Initiative,
filled in as containerd does for the kubelet."""

import json
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from .seccomp import runtime_default

# What containerd grants a container that asks for nothing.
DEFAULT_CAPABILITIES = (
    "CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID", "SETFCAP",
    "SETPCAP", "NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE",
)  # fmt: skip
OPEN_FILES = 20000
V2_ONLY = Path("/sys/fs/cgroup/cgroup.controllers")


@dataclass(frozen=True)
class Mount:
    """A folder or file of this machine, to be read in the container."""

    source: Path
    destination: str
    writable: bool = False

    def spec(self) -> dict:
        return {
            "destination": self.destination,
            "source": str(self.source),
            "type": "bind",
            "options": ["rbind", "rw" if self.writable else "ro"],
        }


@dataclass(frozen=True)
class Security:
    """What a pod's manifest says of privileges."""

    uid: int = 0
    capabilities: tuple[str, ...] = DEFAULT_CAPABILITIES
    read_only_root: bool = False
    host_pid: bool = False
    may_gain_privileges: bool = True
    writable_cgroups: bool = False
    memory_bytes: int | None = None


@dataclass(frozen=True)
class Process:
    arguments: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    security: Security = Security()


def write_spec(bundle: Path, cgroup: str, process: Process) -> None:
    """Makes config.json of a bundle, from what `runc spec` proposes. The network is this machine's,
    and as under containerd the cgroup namespace is private where there is cgroup v2 only."""
    spec, security = json.loads(_proposal()), process.security
    spec["root"]["readonly"] = security.read_only_root
    spec["process"] = _process(process)
    spec["mounts"] = _mounts(spec["mounts"], security) + [each.spec() for each in process.mounts]
    spec["linux"]["cgroupsPath"] = cgroup
    spec["linux"]["seccomp"] = runtime_default(security.capabilities)
    if security.memory_bytes:
        spec["linux"]["resources"]["memory"] = {"limit": security.memory_bytes}
    spec["linux"]["namespaces"] = [{"type": each} for each in _namespaces(security)]
    (bundle / "config.json").write_text(json.dumps(spec))


@cache
def _proposal() -> str:
    with TemporaryDirectory() as folder:
        subprocess.run(["runc", "spec", "--bundle", folder], check=True)
        return (Path(folder) / "config.json").read_text()


def _process(process: Process) -> dict:
    # A user other than root has none, whatever the bounding set allows.
    bounding = [f"CAP_{name}" for name in process.security.capabilities]
    held = bounding if process.security.uid == 0 else []
    path = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    return {
        "args": list(process.arguments),
        "cwd": "/",
        "env": [f"{name}={value}" for name, value in (path | process.environment).items()],
        "user": {"uid": process.security.uid, "gid": process.security.uid},
        "capabilities": {"bounding": bounding, "effective": held, "permitted": held},
        "rlimits": [{"type": "RLIMIT_NOFILE", "hard": OPEN_FILES, "soft": OPEN_FILES}],
        "noNewPrivileges": not process.security.may_gain_privileges,
    }


def _mounts(proposed: list[dict], security: Security) -> list[dict]:
    for mount in proposed:
        if mount["type"] == "cgroup" and security.writable_cgroups:
            mount["options"].remove("ro")
    return proposed


def _namespaces(security: Security) -> list[str]:
    private = ["ipc", "uts", "mount"]
    if not security.host_pid:
        private.append("pid")
    if V2_ONLY.exists():
        private.append("cgroup")
    return private
