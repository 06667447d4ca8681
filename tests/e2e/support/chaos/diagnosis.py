# SPDX-License-Identifier: Apache-2.0
"""What can be said of a uvtap that does not do what it should."""

from contextlib import suppress
from pathlib import Path

from ..uvtap import Uvtap

FRAMES = 8
LOG_SHOWN = 2000


def of(uvtap: Uvtap) -> str:
    """Where each of its threads is in the kernel, what it serves of itself, and what it logged."""
    parts = ["its threads:"]
    with suppress(OSError):  # it may have ended, or not answer
        parts += threads(uvtap.pid)
        parts.append(f"/healthz: {uvtap.get('/healthz')}")
        served = uvtap.scrape().text.splitlines()
        parts += [line for line in served if line.startswith(("uvtap_", "process_cpu"))]
    return "\n".join([*parts, "its log:", uvtap.log()[-LOG_SHOWN:]])


def threads(pid: int) -> list[str]:
    """State, CPU time in ticks, and stack: a thread in state R waits for a CPU at most."""
    lines = []
    for task in sorted(Path(f"/proc/{pid}/task").iterdir()):
        with suppress(OSError):  # ended meanwhile, or stacks are not shown here
            fields = (task / "stat").read_text().rpartition(") ")[2].split()
            stack = [line.split()[1].partition("+")[0] for line in (task / "stack").open()]
            ticks = int(fields[11]) + int(fields[12])
            lines.append(f"  {task.name} {fields[0]} {ticks} " + " < ".join(stack[:FRAMES]))
    return lines
