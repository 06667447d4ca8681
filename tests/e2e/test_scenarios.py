#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The four scenarios of the article this project starts from: which signal moves in which?"""

import unittest
from contextlib import ExitStack
from dataclasses import dataclass

from support import tier
from support.apps import App
from support.compare.measure import OWN_PRIORITY
from support.compare.observe import Window, watch
from support.load import SHAPES, Clients
from support.metrics import Exposition
from support.nodes import node
from support.uvtap import Uvtap

NODE = "22"
PRIORITY = 10
WINDOW_S = 8
WARM_UP_S = 1.0

TITLES = {
    "idle": "idle (for comparison)",
    "cpu": "sustained CPU work",
    "queuing": "queuing behind 80–120 ms of work",
    "gc-churn": "GC pauses",
    "sync-files": "synchronous file reads",
}
HEADER = (
    "| scenario | utilization | delay p95 ms | wait p95 ms | on CPU | run queue | blocked |\n"
    "|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Signals:
    """What uvtap says of one scenario; cause: shares of the whole time."""

    utilization: float
    delay_p95_ms: float
    wait_p95_ms: float
    cause: dict[str, float]

    def row(self, title: str) -> str:
        causes = " | ".join(f"{self.cause[each]:.2f}" for each in ("cpu", "runqueue", "blocked"))
        return (
            f"| {title} | {self.utilization:.2f} | {self.delay_p95_ms:.0f} "
            f"| {self.wait_p95_ms:.0f} | {causes} |"
        )


def observe(uvtap: Uvtap, load: str) -> Signals:
    with ExitStack() as running:
        app = running.enter_context(App(node(NODE), load, PRIORITY))
        if load in SHAPES:
            running.enter_context(Clients(app.port, SHAPES[load]))
        uvtap.await_observed(app.pid)
        uvtap.pause(WARM_UP_S)
        return _signals(watch(uvtap, [app], WINDOW_S), app.pid)


def _signals(window: Window, pid: int) -> Signals:
    said: Exposition = window.end.exposition
    span = window.times(pid).observed
    before, after = (look.exposition.active_by_cause(pid) for look in (window.begin, window.end))
    return Signals(
        utilization=said.value("nodejs_eventloop_utilization", pid),
        delay_p95_ms=said.value("nodejs_eventloop_delay_p95_seconds", pid) * 1e3,
        wait_p95_ms=said.value("nodejs_eventloop_wait_p95_seconds", pid) * 1e3,
        cause={each: (after[each] - before[each]) / span for each in after},
    )


class Scenarios(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with Uvtap("auto", WINDOW_S) as uvtap:
            cls.signals = {load: observe(uvtap, load) for load in TITLES}
        rows = [cls.signals[load].row(title) for load, title in TITLES.items()]
        print("\n".join([HEADER, *rows]), flush=True)

    def test_idle_moves_nothing(self):
        idle = self.signals["idle"]
        self.assertLess(idle.utilization, 0.05)
        self.assertLess(idle.delay_p95_ms, 22)
        self.assertLess(idle.wait_p95_ms, 2)

    def test_cpu_work_moves_utilization_and_hardly_the_delay(self):
        cpu = self.signals["cpu"]
        self.assertGreater(cpu.utilization, 0.7)
        self.assertGreater(cpu.cause["cpu"], 0.65)
        self.assertLess(cpu.delay_p95_ms, 50)
        self.assertLess(cpu.wait_p95_ms, 25)

    def test_queuing_moves_everything(self):
        """The article says that utilization stays at 2 to 5 %. It does not."""
        queuing = self.signals["queuing"]
        self.assertGreater(queuing.utilization, 0.95)
        self.assertGreater(queuing.cause["cpu"], 0.9)
        self.assertGreater(queuing.delay_p95_ms, 100)
        self.assertGreater(queuing.wait_p95_ms, 75)

    def test_gc_moves_the_delay_and_utilization(self):
        """The article says that utilization may not show it: collecting is active time like any."""
        gc, idle = self.signals["gc-churn"], self.signals["idle"]
        self.assertGreater(gc.utilization, 0.2)
        self.assertGreater(gc.delay_p95_ms, idle.delay_p95_ms + 1)
        self.assertGreater(gc.wait_p95_ms, idle.wait_p95_ms + 2)

    def test_sync_reads_move_everything_and_are_blocked_not_cpu(self):
        reads = self.signals["sync-files"]
        self.assertGreater(reads.utilization, 0.4)
        self.assertGreater(reads.delay_p95_ms, 30)
        self.assertGreater(reads.wait_p95_ms, 20)
        self.assertGreater(reads.cause["blocked"], 0.8 * reads.utilization)
        self.assertLess(reads.cause["cpu"], 0.2 * reads.utilization)


if __name__ == "__main__":
    tier.main((NODE,), OWN_PRIORITY)
