#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Removes all containers of a runc state directory once its standard input ends.

A program of its own in a session of its own: so it outlives a test that is killed, and then nothing
is left behind, neither processes nor cgroups.
"""

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ENDS_WITHIN_S = 10


def remove(runc_root: Path, container: str) -> None:
    """Kills all processes of a container; then it is gone, and so are its cgroups and its pod's."""
    state = json.loads((runc_root / container / "state.json").read_text())
    # runc does not wait for all threads to end, and cannot remove the cgroup of one that has not.
    end(state["init_process_pid"])
    subprocess.run(["runc", "--root", runc_root, "delete", "--force", container], check=True)
    for folder in state["cgroup_paths"].values():
        remove_empty(Path(folder).parent)


def end(pid: int) -> None:
    with suppress(ProcessLookupError):
        process = os.pidfd_open(pid)
        signal.pidfd_send_signal(process, signal.SIGKILL)
        select.select([process], [], [], ENDS_WITHIN_S)
        os.close(process)


def remove_empty(folder: Path) -> None:
    """With the folders above it, as far up as they are empty."""
    with suppress(OSError):  # in use, or the root of its hierarchy
        while True:
            folder.rmdir()
            folder = folder.parent


def main(runc_root: Path) -> None:
    sys.stdin.read()
    for container in sorted(runc_root.iterdir()) if runc_root.exists() else ():
        remove(runc_root, container.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
