# SPDX-License-Identifier: Apache-2.0
"""Looks at one uvtap again and again: nothing it serves may contradict what it served before, and
nothing it holds may grow."""

import time
from collections import Counter
from pathlib import Path
from typing import Iterable

from .. import bpf_objects
from ..kube_node import PATIENCE
from ..metrics import Exposition
from ..uvtap import Uvtap
from . import diagnosis
from .surroundings import sanitized
from .troubles import Troubles

COUNTERS = ("_total", "_bucket", "_count", "_sum")
GONE_WITHIN_S = 4.0 * PATIENCE  # a tick or two, and a crowded machine
FROZEN_AFTER_S = 4.0 * PATIENCE
DRAINED_WITHIN_S = 20.0 * PATIENCE  # the /proc scan finds what an event did not tell within 15 s
LINKS_PER_BINARY = 2
GROWS_AT_MOST = 1.10
GROWS_ANYWAY_BYTES = 4 << 20


class WatchedUvtap:
    """`witnesses`: pids that live all the time and are never idle for long. `pods`: by pid, the
    name that its series must have all the time."""

    def __init__(
        self, name: str, uvtap: Uvtap, troubles: Troubles, witnesses: Iterable[int] = (),
        pods: dict[int, str] | None = None,
    ):  # fmt: skip
        self.name, self.uvtap = name, uvtap
        self.lost: Counter[str] = Counter()
        self.looks = 0
        self.resident_bytes: list[int] = []
        self.most_series = 0
        self._troubles, self._witnesses, self._pods = troubles, list(witnesses), pods or {}
        self._counters: dict[str, float] = {}
        self._gone_since: dict[int, float] = {}
        self._turned: dict[int, tuple[float, float]] = {}  # turns, and when there were more
        self._files = self._threads = None

    def remember(self) -> None:
        """What it holds before anything happens."""
        self._files, self._binaries = self._held()
        self._threads = self._thread_names()

    def look(self) -> None:
        with self._troubles.noted(self.name):
            self.uvtap.pause(0.001)
            status, text = self.uvtap.get("/metrics")
            now = time.monotonic()
            if status != 200:
                raise AssertionError(f"/metrics answers {status}: {text[:200]}")
            self.looks += 1
            said = Exposition(text)
            self._check_counters(text)
            self._check_gone(said.observed_pids(), now)
            for pid in self._witnesses:
                self._check_turning(said, pid, now)
            self._check_names(said)
            self._note(said)

    def check_drained(self) -> None:
        """After the crowd has gone it holds what it held before."""
        with self._troubles.noted(f"{self.name} at the end"):
            self.uvtap.await_that(lambda _: not self._dead_keys(), "no dead keys", DRAINED_WITHIN_S)
            self.uvtap.await_that(lambda _: self._as_before(), "descriptors are closed",
                                  DRAINED_WITHIN_S)  # fmt: skip
            if (threads := self._thread_names()) != self._threads:
                raise AssertionError(f"threads were {self._threads}, are {threads}")
            if (status := self.uvtap.get("/healthz")[0]) != 200:
                raise AssertionError(f"/healthz answers {status}")
            self._check_memory()

    def in_words(self) -> str:
        if not self.resident_bytes:
            return "no look"
        third = max(1, len(self.resident_bytes) // 3)
        first, last = max(self.resident_bytes[:third]), max(self.resident_bytes[-third:])
        return (
            f"{self.looks} looks, at most {self.most_series:,} lines; {first / 1e6:.1f} MB in the "
            f"first third, {last / 1e6:.1f} MB in the last"
        )

    # parts of a look

    def _check_counters(self, text: str) -> None:
        now = {}
        for line in text.splitlines():
            series, _, value = line.rpartition(" ")
            if not line.startswith("#") and series.partition("{")[0].endswith(COUNTERS):
                now[series] = float(value)
        for series, value in now.items():
            if value < (before := self._counters.get(series, 0.0)):
                self._troubles.add(f"{self.name}: {series} went from {before:g} to {value:g}")
        self._counters = now
        self.most_series = max(self.most_series, text.count("\n"))

    def _check_gone(self, shown: set[int], now_s: float) -> None:
        dead = {pid for pid in shown if not _lives(pid)}
        self._gone_since = {pid: self._gone_since.get(pid, now_s) for pid in dead}
        for pid, since_s in self._gone_since.items():
            if now_s - since_s > GONE_WITHIN_S:
                shown_s = now_s - since_s
                self._troubles.add(f"{self.name}: {pid} is gone, and shown for {shown_s:.1f} s")

    def _check_turning(self, said: Exposition, pid: int, now_s: float) -> None:
        turns = said.value("nodejs_eventloop_turns_total", pid)
        before, when_s = self._turned.get(pid, (-1.0, now_s))
        if turns > before:
            self._turned[pid] = (turns, now_s)
        elif now_s - when_s > FROZEN_AFTER_S:
            self._troubles.add(
                f"{self.name}: {pid} has not turned for {now_s - when_s:.1f} s\n"
                + "\n".join(diagnosis.threads(self.uvtap.pid))
            )
            self._turned[pid] = (turns, now_s)  # to be told again after as long

    def _check_names(self, said: Exposition) -> None:
        for pid, pod in self._pods.items():
            shown = [sample.labels["pod"] for sample in said.find("nodejs_eventloop_loops", pid)]
            if shown != [pod]:
                self._troubles.add(f"{self.name}: {pid} of pod {pod} is shown under {shown}")

    def _note(self, said: Exposition) -> None:
        self.resident_bytes.append(self.uvtap.resident_bytes())
        for sample in said.find("uvtap_lost_total"):
            self.lost[sample.labels["reason"]] = int(sample.value)

    # what it holds

    def _held(self) -> tuple[Counter[str], float]:
        return self.uvtap.open_files(), self.uvtap.scrape().value("uvtap_attached_binaries")

    def _as_before(self) -> bool:
        """But for binaries that others on this machine have begun or ceased to run."""
        files, binaries = self._held()
        changed = dict((files - self._files) + (self._files - files))
        links = sum(changed.pop(kind) for kind in list(changed) if "link" in kind)
        return not changed and links <= LINKS_PER_BINARY * abs(binaries - self._binaries)

    def _dead_keys(self) -> set[int]:
        names = ("processes", "slot_of_thread")
        keys = set().union(*(bpf_objects.map_keys(self.uvtap.pid, name) for name in names))
        return {key for key in keys if not Path(f"/proc/{key}").exists()}

    def _thread_names(self) -> Counter[str]:
        tasks = Path(f"/proc/{self.uvtap.pid}/task").iterdir()
        return Counter((task / "comm").read_text().strip() for task in tasks)

    def _check_memory(self) -> None:
        third = len(self.resident_bytes) // 3
        if sanitized() or third < 3:
            return
        first, last = max(self.resident_bytes[:third]), max(self.resident_bytes[-third:])
        if last > first * GROWS_AT_MOST + GROWS_ANYWAY_BYTES:
            raise AssertionError(f"memory grew from {first >> 10} to {last >> 10} KiB")


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"
