# SPDX-License-Identifier: Apache-2.0
"""What the kernel says of a process."""

import ctypes
import os
import re
import time
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)


def cpu_seconds(pid: int) -> float:
    """The CPU time of all its threads so far, to the nanosecond; /proc/PID/stat counts in
    hundredths of a second."""
    clock = ctypes.c_int()
    if error := _libc.clock_getcpuclockid(pid, ctypes.byref(clock)):
        raise OSError(error, os.strerror(error))
    return time.clock_gettime(clock.value)


def memory_bytes(pid: int) -> tuple[int, int]:
    """Resident now, and at most since it started."""
    status = Path(f"/proc/{pid}/status").read_text()
    return tuple(
        int(re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024
        for name in ("VmRSS", "VmHWM")
    )
