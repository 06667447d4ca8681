# SPDX-License-Identifier: Apache-2.0
"""What an uvtap of the chaos test runs in: commands that execute the one that follows them."""

import os
import struct
import subprocess
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Iterator

from ..nodes import REPOSITORY
from ..uvtap import binary

MEMORY_BYTES = 128 << 20  # the manifest's limit
V1 = Path("/sys/fs/cgroup/memory")
V2 = Path("/sys/fs/cgroup")
CLOCK = REPOSITORY / "tests" / "support" / "stepped_clock.c"

FULL_DISK = ("sh", "-c", 'exec "$@" > /dev/full 2>&1', "sh")


@cache
def sanitized() -> bool:
    """A build with AddressSanitizer, whose memory is not to be measured."""
    return b"__asan_init" in binary().read_bytes()


class MemoryLimit:
    """A cgroup with the manifest's limit."""

    def __init__(self, folder: Path, limit: str, peak: str):
        self.prefix = ("sh", "-c", f'echo $$ > {folder}/cgroup.procs && exec "$@"', "sh")
        self._peak = folder / peak
        (folder / limit).write_text(str(MEMORY_BYTES))

    def in_words(self) -> str:
        peak = int(self._peak.read_text())
        return f"{peak / 1e6:.1f} MB at most, of {MEMORY_BYTES / 1e6:.1f}"


@contextmanager
def memory_limit() -> Iterator[MemoryLimit | None]:
    """None where cgroups cannot limit memory."""
    v1, name = (V1 / "cgroup.procs").exists(), f"uvtap-chaos-{os.getpid()}"
    if sanitized() or not (v1 or _v2_limits_memory()):
        yield None
        return
    folder = (V1 if v1 else V2) / name
    folder.mkdir()
    try:
        if v1:
            yield MemoryLimit(folder, "memory.limit_in_bytes", "memory.max_usage_in_bytes")
        else:
            yield MemoryLimit(folder, "memory.max", "memory.peak")
    finally:
        folder.rmdir()


def _v2_limits_memory() -> bool:
    enabled = V2 / "cgroup.subtree_control"
    return enabled.exists() and "memory" in enabled.read_text().split()


class SteppedClock:
    """A wall clock of its own for the processes with this prefix, a step away from the machine's.
    Stepping the machine's would step everybody's."""

    def __init__(self, folder: Path):
        self._offset = folder / "offset"
        library = folder / "stepped_clock.so"
        compiler = os.environ.get("CC", "cc")
        command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, CLOCK]
        subprocess.run(command, check=True)
        self.step(0)
        self.prefix = (
            "env", f"UVTAP_STEPPED_CLOCK={self._offset}", f"LD_PRELOAD={library}",
            "ASAN_OPTIONS=verify_asan_link_order=0",
        )  # fmt: skip

    def step(self, seconds: int) -> None:
        """To so many seconds from the machine's clock, in an instant."""
        with self._offset.open("r+b" if self._offset.exists() else "wb") as file:
            file.write(struct.pack("q", seconds))
