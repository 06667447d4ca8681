# SPDX-License-Identifier: Apache-2.0
"""Cgroups of pods, where a kubelet with the cgroupfs driver would have them."""

import secrets
from pathlib import Path
from uuid import uuid4

from support import warden

_FAMILY = Path("kubepods/burstable")


def hierarchy() -> Path:
    """Where CPU use is accounted: cgroup v1's cpuacct, or v2."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    found = [where for _, where, kind, options, *_ in mounts if _accounts(kind, options)]
    if not found:
        raise AssertionError("no cgroup hierarchy that accounts for CPU use is mounted")
    return Path(found[0])


def _accounts(kind: str, options: str) -> bool:
    return kind == "cgroup2" or (kind == "cgroup" and "cpuacct" in options.split(","))


class PodCgroup:
    """A pod with one container."""

    def __init__(self):
        self.uid = str(uuid4())
        self.container_id = secrets.token_hex(32)
        self._pod = hierarchy() / _FAMILY / f"pod{self.uid}"
        self._folder = self._pod / self.container_id
        self._folder.mkdir(parents=True)

    def entering(self, command: list[str]) -> list[str]:
        """The command, run inside."""
        enter = 'echo $$ > "$0" && exec "$@"'
        return ["sh", "-c", enter, str(self._folder / "cgroup.procs"), *command]

    def cpu_seconds(self) -> float:
        """Used by all its processes so far."""
        accounted = self._folder / "cpuacct.usage"
        if accounted.exists():
            return int(accounted.read_text()) / 1e9
        statistics = (self._folder / "cpu.stat").read_text().split()
        return int(statistics[statistics.index("usage_usec") + 1]) / 1e6

    def remove(self) -> None:
        """Its processes have ended."""
        self._folder.rmdir()
        self._pod.rmdir()


def remove_family() -> None:
    """What is above the pods, if nobody else uses it."""
    warden.remove_empty(hierarchy() / _FAMILY)
