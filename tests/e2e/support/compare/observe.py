# SPDX-License-Identifier: Apache-2.0
"""Lets a daemon and applications speak of the same window.

The daemon looks on the whole seconds of CLOCK_MONOTONIC. At that moment the applications are asked
for their own times. They run at real-time priority and answer at once unless their loop is busy: so
from the question to the answer it was. The daemon's counters, active + idle, say how long it had
observed a loop by its look, and so how far the look and the question are apart: a few milliseconds at
most, in which the loop was as busy as it is on average.
"""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Callable

from ..apps import App, Mark
from ..metrics import Exposition, LoopTimes
from ..uvtap import Uvtap

AHEAD_S = 0.3  # what there must be time for before a look
POLL_S = 0.003

Ask = Callable[[App, str], Mark]


@dataclass(frozen=True)
class Look:
    """One look of the daemon, with the applications' answers to it."""

    at_s: float  # CLOCK_MONOTONIC, when the applications were asked
    exposition: Exposition
    marks: dict[int, Mark]  # by pid


def watch(
    uvtap: Uvtap, apps: list[App], window_s: float, at_begin: Callable[[], None] = lambda: None
) -> "Window":
    """Observes one window. It begins two looks from now; at the first the applications prepare."""
    first = math.ceil(time.monotonic() + AHEAD_S)
    await_look(uvtap, apps, first, App.prepare)
    begin = await_look(uvtap, apps, first + 1, App.begin)
    at_begin()
    return Window(begin, await_look(uvtap, apps, first + 1 + window_s, App.mark))


def await_look(uvtap: Uvtap, apps: list[App], look_s: float, ask: Ask) -> Look:
    """The look at this moment."""

    def counters(exposition: Exposition) -> list[str]:
        name = "nodejs_eventloop_time_seconds_total"
        return [line for app in apps for line in exposition.lines(name, app.pid)]

    uvtap.pause(max(0.0, look_s - AHEAD_S - time.monotonic()))
    before = counters(uvtap.scrape())
    uvtap.pause(max(0.0, look_s - time.monotonic()))
    asked = time.monotonic()
    marks = _ask_all(apps, lambda app: ask(app, uvtap.door))
    while counters(exposition := uvtap.scrape()) == before:
        uvtap.pause(POLL_S)
    return Look(asked, exposition, marks)


def _ask_all(apps: list[App], ask: Callable[[App], Mark]) -> dict[int, Mark]:
    """Asks side by side: a busy application must not make the question to an idle one late."""
    with ThreadPoolExecutor() as pool:
        marks = pool.map(ask, apps)
        return {app.pid: mark for app, mark in zip(apps, marks)}


@dataclass(frozen=True)
class Window:
    """What the daemon and the applications said at the two ends."""

    begin: Look
    end: Look

    def times(self, pid: int, prefix: str = "nodejs_eventloop") -> LoopTimes:
        """The daemon's."""
        end, begin = self.end.exposition, self.begin.exposition
        return end.times(pid, prefix) - begin.times(pid, prefix)

    def wait_bucket(self, pid: int, percent: float) -> tuple[float, float]:
        """Between which bounds of the wait histogram this percentile of the window lies."""
        begin, end = (look.exposition.wait_buckets(pid) for look in (self.begin, self.end))
        counts = {bound: count - begin.get(bound, 0.0) for bound, count in end.items()}
        wanted = counts[float("inf")] * percent / 100
        low = 0.0
        for bound in sorted(counts):
            if counts[bound] >= wanted:
                return low, bound
            low = bound
        raise AssertionError("the last bucket holds everything")

    def own_times(self, pid: int) -> LoopTimes:
        """The application's, of its main loop."""
        share = (self.end.marks[pid].main - self.begin.marks[pid].main).utilization
        since = self._observed_since(pid)
        return _own_at(self.end, pid, since, share) - _own_at(self.begin, pid, since, share)

    def own_worker_times(self, pid: int) -> LoopTimes:
        """The application's, of its Worker. Its main loop idles, so it answers at once."""
        return self.end.marks[pid].workers[0] - self.begin.marks[pid].workers[0]

    def apart_s(self, pid: int) -> float:
        """By how much questions and looks were apart, both ends together."""
        since = self._observed_since(pid)
        return sum(
            abs(look.at_s - since - look.exposition.times(pid).observed)
            for look in (self.begin, self.end)
        )

    def _observed_since(self, pid: int) -> float:
        """When the daemon began to observe, by the look that was noticed the least late."""
        return min(
            look.at_s - look.exposition.times(pid).observed for look in (self.begin, self.end)
        )


def _own_at(look: Look, pid: int, observed_since: float, share: float) -> LoopTimes:
    """The main loop's own times at the very moment of the look."""
    mark = look.marks[pid]
    answering = mark.at_s - mark.asked_s
    asking = mark.asked_s - (observed_since + look.exposition.times(pid).observed)
    return mark.main - LoopTimes(answering + share * asking, (1 - share) * asking)
