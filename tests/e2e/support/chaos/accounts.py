# SPDX-License-Identifier: Apache-2.0
"""Holds uvtap's figures of one busy, undisturbed application against the application's own, window
after window, for as long as the chaos lasts."""

import math
import time
from typing import Callable

from ..apps import App
from ..compare.bounds import UTILIZATION
from ..compare.observe import AHEAD_S, Look, Window, await_look
from ..metrics import Exposition
from ..uvtap import Uvtap
from .background import Background
from .troubles import Troubles

# What the application and uvtap can be apart in what they count up to.
LATE_S = 1.0
TURNS_MORE = 5

Total = Callable[[Exposition], float]


class Accounts(Background):
    """Use with `with`. Ends with the window in progress."""

    def __init__(self, uvtap: Uvtap, app: App, window_s: int, troubles: Troubles):
        super().__init__()
        self.windows = 0
        self.worst_utilization = 0.0
        self.longest_apart_s = 0.0
        self.turns_own = 0
        self.turns_seen = 0
        self.lost = 0
        self._uvtap, self._app, self._window_s = uvtap, app, window_s
        self._troubles = troubles

    def in_words(self) -> str:
        return (
            f"{self.windows} windows of {self._window_s} s: utilization differed by "
            f"{self.worst_utilization:.4f} at most, while questions and looks were up to "
            f"{self.longest_apart_s * 1e3:.0f} ms apart; it turned {self.turns_own:,} times, "
            f"{self.turns_seen:,} were counted"
        )

    def run(self) -> None:
        with self._troubles.noted("accounts"):
            begin = self._look(1)
            while not self._done.wait(self._window_s - AHEAD_S - 0.2):
                end = self._look(1)
                self._compare(Window(begin, end))
                begin = end

    def _look(self, ahead_s: int) -> Look:
        moment = math.floor(time.monotonic() + AHEAD_S) + ahead_s
        return await_look(self._uvtap, [self._app], moment, App.mark)

    def _compare(self, window: Window) -> None:
        self.windows += 1
        pid = self._app.pid
        own, seen = window.own_times(pid), window.times(pid)
        difference = abs(own.utilization - seen.utilization)
        self.worst_utilization = max(self.worst_utilization, difference)
        # While the question waits for a CPU, nobody knows how busy the loop is.
        unknown = window.apart_s(pid) / seen.observed
        self.longest_apart_s = max(self.longest_apart_s, window.apart_s(pid))
        if difference > UTILIZATION + unknown:
            self._troubles.add(
                f"utilization of the busy application: its own {own.utilization:.4f}, uvtap's "
                f"{seen.utilization:.4f} over {seen.observed:.2f} s, {unknown:.4f} is not known"
            )
        self._compare_turns(window)

    def _compare_turns(self, window: Window) -> None:
        """Since the first look: what a late look has missed the next one makes good."""
        pid = self._app.pid
        own = window.end.marks[pid].turns - window.begin.marks[pid].turns
        self.turns_own += own
        self.turns_seen += _gained(window, _turns_of(pid))
        self.lost += _gained(window, _lost)
        a_second = own / window.times(pid).observed
        slack = TURNS_MORE + a_second * (LATE_S + window.apart_s(pid))
        if not self.turns_own - self.lost - slack <= self.turns_seen <= self.turns_own + slack:
            self._troubles.add(
                f"the busy application turned {self.turns_own} times, uvtap counted "
                f"{self.turns_seen} and lost {self.lost}"
            )


def _turns_of(pid: int) -> Total:
    return lambda said: said.value("nodejs_eventloop_turns_total", pid)


def _lost(said: Exposition) -> float:
    return said.total("uvtap_lost_total")


def _gained(window: Window, total: Total) -> int:
    return int(total(window.end.exposition) - total(window.begin.exposition))
