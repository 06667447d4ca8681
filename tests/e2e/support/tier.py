# SPDX-License-Identifier: Apache-2.0
"""Runs a test file of the e2e tier, or says why it cannot run here."""

import os
import sys
import unittest

from . import nodes, uvtap

SKIPPED = 77  # what ctest takes for a skip


def obstacle(needed: tuple[str, ...], priority: int | None = None) -> str | None:
    """Why these tests cannot run here, on these Node builds and at this real-time priority; None if
    they can. Takes the priority."""
    if os.geteuid() != 0:
        return "needs root"
    if not uvtap.binary().exists():
        return f"{uvtap.binary()} is missing: scripts/build"
    if missing := nodes.missing(needed):
        return f"Node {', '.join(missing)} missing in {nodes.nodes_dir()}: scripts/fetch-nodes"
    try:
        if priority is not None:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except PermissionError:
        return "needs real-time priority (CAP_SYS_NICE)"
    return None


def main(needed: tuple[str, ...] = ("22",), priority: int | None = None) -> None:
    """The last line of each test file."""
    if reason := obstacle(needed, priority):
        print(f"SKIPPED: {os.path.basename(sys.argv[0])}: {reason}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
