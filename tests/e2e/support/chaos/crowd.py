# SPDX-License-Identifier: Apache-2.0
"""The crowd: a bounded number of processes to which things happen at a given rate.

A program of its own, run as `python3 -m support.chaos.crowd`: what it does must not take turns with
the checks. It adopts what its children leave behind, and ends with all of it once its standard
input ends. Then it prints what has happened as JSON.
"""

import argparse
import ctypes
import json
import os
import select
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Sequence

from ..nodes import Node, node
from .binaries import PrivateBinary
from .happenings import OF_KIND, one_of
from .members import Member
from .plan import Event, events

VERSIONS = ("16", "18", "20", "22", "24", "26")
PRIVATE_SHARE = 3  # as likely as so many of the versions
AT_MOST = 10
STOPPED_FOR_S = 1.5
LOOK_AFTER_EVERY_S = 0.1
LATE_S = 0.5  # later than this it does not catch up
PR_SET_CHILD_SUBREAPER = 36


class Crowd:
    def __init__(self, folder: Path):
        self.members: list[Member] = []
        self.binary = PrivateBinary(folder, node("22").binary)

    def happen(self, event: Event) -> bool:
        """False if there was nobody for it."""
        return OF_KIND[event.kind](self, event)

    def admit(self, whom: float, prefix: Sequence[str] = ()) -> bool:
        """The oldest makes room."""
        if len(self.members) >= AT_MOST:
            self.members.pop(0).kill()
        self.members.append(Member([*prefix, *self._build(whom).command("crowd_app.js")]))
        return True

    def look_after(self) -> None:
        """Continues who was stopped for long, and buries the dead."""
        now = time.monotonic()
        for member in self.members:
            if member.stopped_at_s and now - member.stopped_at_s > STOPPED_FOR_S:
                member.go_on()
        for member in [each for each in self.members if each.process.poll() is not None]:
            member.kill()
            self.members.remove(member)
        for child in children() - {member.process.pid for member in self.members}:
            with suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)

    def end(self) -> None:
        while self.members:
            self.members.pop().kill()
        while left := children():
            for child in left:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)

    def _build(self, whom: float) -> Node:
        private = Node("private", self.binary.path)
        return one_of([*map(node, VERSIONS), *[private] * PRIVATE_SHARE], whom)


def children() -> set[int]:
    """Of this process, adopted ones too. They stay until they are waited for."""
    return set(map(int, Path("/proc/thread-self/children").read_text().split()))


def live(crowd: Crowd, seed: int, rate: float, log) -> tuple[Counter[str], float]:
    """Until standard input ends. Returns how often what happened, and for how many seconds."""
    counts: Counter[str] = Counter()
    begin = due = looked_at = time.monotonic()
    for event in events(seed):
        due += 1 / rate
        if select.select([sys.stdin], [], [], max(0.0, due - time.monotonic()))[0]:
            return counts, time.monotonic() - begin
        happened = crowd.happen(event)
        counts[event.kind if happened else "(there was nobody for it)"] += 1
        log.write(f"{time.monotonic():.3f} {event.number} {event.kind} {event.whom:.3f}\n")
        now = time.monotonic()
        due = max(due, now - LATE_S)
        if now - looked_at > LOOK_AFTER_EVERY_S:
            crowd.look_after()
            looked_at = now
    raise AssertionError("events do not end")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--log", type=Path, required=True)
    wanted = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with TemporaryDirectory(prefix="uvtap-crowd-") as folder, wanted.log.open("w", 1) as log:
        crowd = Crowd(Path(folder))
        print("ready", flush=True)
        try:
            counts, seconds = live(crowd, wanted.seed, wanted.rate, log)
        finally:
            crowd.end()
    print(json.dumps({"counts": counts, "seconds": seconds}))


if __name__ == "__main__":
    main()
