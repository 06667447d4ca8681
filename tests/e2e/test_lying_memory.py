#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory that lies: each field of a loop in turn, through each front door. uvtap neither crashes nor
stalls nor prints a figure that cannot be, and a witness beside it is not affected."""

import tempfile
import time
import unittest
from contextlib import ExitStack
from pathlib import Path

from support import lying_loop, tier
from support.apps import App
from support.lying_loop import LyingLoop
from support.metrics import Exposition
from support.nodes import DOORS, node
from support.uvtap import Uvtap

NODE = "22"
WINDOW_S = 5
WATCHED_S = 6
# Time is counted up to the tick before, and the clocks are read a moment apart.
TOLERANCE_S = 1.5
WITNESS_TOLERANCE = 0.1
# Each of some thirty processes has probes of its own through the door epoll.
ENDS_WITHIN_S = 30


class Lies(unittest.TestCase):
    def setUp(self):
        self.running = self.enterContext(ExitStack())
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.program = lying_loop.build("lying_loop", folder)
        self.witness = self.running.enter_context(App(node(NODE), "mixed"))

    def check_door(self, door: str) -> None:
        liars = {
            lie: self.running.enter_context(LyingLoop(self.program))
            for lie in lying_loop.lies(self.program)
        }
        uvtap = self.running.enter_context(Uvtap(door, WINDOW_S))
        pids = {liar.pid: lie for lie, liar in liars.items()}
        uvtap.await_observed(self.witness.pid, *pids, within_s=20)
        honest = uvtap.scrape()
        for lie, liar in liars.items():
            liar.tell("lie", lie)
        own = self.witness.mark("test").main
        looks = self.look_for_a_while(uvtap, pids)
        own = (self.witness.mark("test").main - own).utilization
        said = (looks[-1].times(self.witness.pid) - looks[0].times(self.witness.pid)).utilization
        self.assertAlmostEqual(said, own, delta=WITNESS_TOLERANCE)
        self.assertEqual(self.lost(honest), 0)
        self.assertGreater(self.lost(looks[-1]), 0, "lies were told and nothing was lost")
        uvtap.process.terminate()
        self.assertEqual(uvtap.process.wait(ENDS_WITHIN_S), 0)

    @staticmethod
    def lost(said: Exposition) -> float:
        return said.total("uvtap_lost_total") - said.value(
            "uvtap_lost_total", reason="turn_in_progress"
        )

    def look_for_a_while(self, uvtap: Uvtap, pids: dict[int, str]) -> list[Exposition]:
        looks, began_s = [], time.monotonic()
        while time.monotonic() - began_s < WATCHED_S:
            asked_s = time.monotonic()
            looks.append(uvtap.scrape())
            for pid, lie in pids.items():
                with self.subTest(lie=lie):
                    self.check_figures(looks, pid, asked_s - began_s)
            uvtap.pause(0.5)
        return looks

    def check_figures(self, looks: list[Exposition], pid: int, passed_s: float) -> None:
        said = looks[-1]
        self.assertIn(pid, said.observed_pids())
        for sample in said.find("nodejs_eventloop_utilization", pid):
            self.assertTrue(0 <= sample.value <= 1, sample)
        before, after = looks[0].times(pid), said.times(pid)
        self.assertGreaterEqual(after.active, looks[max(0, len(looks) - 2)].times(pid).active)
        self.assertGreaterEqual(after.idle, looks[max(0, len(looks) - 2)].times(pid).idle)
        self.assertLessEqual(after.observed - before.observed, passed_s + TOLERANCE_S)
        for name in ("wait_p95", "delay_p95", "stall"):
            for sample in said.find(f"nodejs_eventloop_{name}_seconds", pid):
                self.assertTrue(0 <= sample.value <= passed_s + 30, (name, sample))


def _test_of(door: str):
    return lambda self: self.check_door(door)


for _door in DOORS:
    setattr(Lies, f"test_{_door}", _test_of(_door))


if __name__ == "__main__":
    tier.main((NODE,))
