# SPDX-License-Identifier: Apache-2.0
"""Where things run: the application has one CPU for itself, everything else another one."""

import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from support import nodes
from support.nodes import REPOSITORY

BUILD = REPOSITORY / "build"
_CLIENTS_SOURCE = nodes.PROGRAMS / "closed_loop_clients.cpp"


def obstacle() -> str | None:
    """What is missing for a measurement, beside what all end-to-end tests need."""
    if len(os.sched_getaffinity(0)) < 2:
        return "needs two CPUs"
    if not shutil.which("bpftrace"):
        return "bpftrace is missing: apt-get install bpftrace"
    return None


class Machine:
    """Takes this process off the application's CPU, and makes what the measurement runs. Use with
    `with`: what it made is gone at the end."""

    def __init__(self) -> None:
        self.application_cpu, self.other_cpu = sorted(os.sched_getaffinity(0))[:2]
        os.sched_setaffinity(0, {self.other_cpu})
        BUILD.mkdir(exist_ok=True)
        self._folder = tempfile.TemporaryDirectory(prefix="overhead-", dir=BUILD)
        self.clients = Path(self._folder.name, "clients")
        command = ["g++", "-std=c++23", "-O2", "-o", str(self.clients), str(_CLIENTS_SOURCE)]
        subprocess.run(command, check=True)

    def __enter__(self) -> "Machine":
        return self

    def __exit__(self, *_) -> None:
        self._folder.cleanup()

    def node(self, name: str) -> Path:
        """A copy of the build: probes belong to a file, and this one nobody else probes."""
        copy = Path(self._folder.name, f"node-{name}")
        if not copy.exists():
            shutil.copy2(nodes.node(name).binary, copy)
        return copy


def other_observers() -> list[str]:
    """Processes that observe Node.js here already: nothing is unobserved beside them."""
    found = []
    for each in Path("/proc").glob("[0-9]*/comm"):
        try:
            name = each.read_text().strip()
        except OSError:
            continue  # it has ended
        if name in ("uvtap", "bpftrace"):
            found.append(f"{name}/{each.parent.name}")
    return sorted(found)


def description() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    virtual = "a virtual machine with " if any(" hypervisor" in line for line in lines) else ""
    return (
        f"{virtual}{len(models)} CPUs ({models[0] if models else platform.machine()}), "
        f"Linux {platform.release().partition('-')[0]}"
    )
