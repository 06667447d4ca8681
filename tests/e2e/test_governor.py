#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What observing costs stays within the budget: a loop that turns a million times a second loses
its probe within ten seconds and gets it back when it is calm; its neighbours notice nothing."""

import time
import unittest
from contextlib import ExitStack

from support import tier
from support.apps import App
from support.metrics import Exposition
from support.nodes import node
from support.storm import StormApp
from support.uvtap import Uvtap

NODE = "22"  # libuv counts its turns itself
OLD_NODE = "18"  # and here it does not
WINDOW_S = 1
MOVED_WITHIN_S = 10.0
# Ten seconds of pause, five of calm, and some ticks.
BACK_WITHIN_S = 20.0
SPAN_S = 3.0
UTILIZATION_WITHIN = 0.01
# Its load is not even, and the two accounts begin and end up to a second apart.
NEIGHBOUR_WITHIN = 0.03
BUDGET = 0.02


def door_of(exposition: Exposition, pid: int) -> str | None:
    """The front door of this process's only loop."""
    doors = exposition.find("uvtap_loops", pid)
    return doors[0].labels["front_door"] if len(doors) == 1 else None


class Totals:
    """What must never go back."""

    def __init__(self, exposition: Exposition, pid: int):
        self.turns = exposition.value("nodejs_eventloop_turns_total", pid)
        self.times = exposition.times(pid)

    def is_not_below(self, earlier: "Totals") -> bool:
        spent = self.times - earlier.times
        return self.turns >= earlier.turns and spent.active >= 0 and spent.idle >= 0


class Governor(unittest.TestCase):
    def await_door(self, uvtap: Uvtap, pid: int, door: str, within_s: float) -> float:
        """Waits until the process is observed through this door; returns how long that took. In
        the meantime nothing may go back."""
        begin = time.monotonic()
        earlier = Totals(uvtap.scrape(), pid)

        def moved(exposition: Exposition) -> bool:
            nonlocal earlier
            now = Totals(exposition, pid)
            self.assertTrue(now.is_not_below(earlier), f"{vars(now)} after {vars(earlier)}")
            earlier = now
            return door_of(exposition, pid) == door

        uvtap.await_that(moved, f"pid {pid} is observed through {door}", within_s)
        return time.monotonic() - begin

    def compare(self, uvtap: Uvtap, app: StormApp) -> tuple[float, float, float, float]:
        """Utilization by the application and by uvtap, and turns per second by both, over the same
        few seconds."""
        app_begin, begin = app.tell(), uvtap.scrape()
        uvtap.pause(SPAN_S)
        app_end, end = app.tell(), uvtap.scrape()
        times = end.times(app.pid) - begin.times(app.pid)
        turns = end.value("nodejs_eventloop_turns_total", app.pid) - begin.value(
            "nodejs_eventloop_turns_total", app.pid
        )
        return (
            app_end.utilization_since(app_begin),
            times.utilization,
            app_end.turns_per_second_since(app_begin),
            turns / times.observed,
        )

    def storm_and_calm(self, uvtap: Uvtap, app: StormApp) -> None:
        app.storm()
        moved_s = self.await_door(uvtap, app.pid, "memory", MOVED_WITHIN_S)
        print(f"spared after {moved_s:.1f} s")
        self.assertEqual(uvtap.scrape().value("uvtap_processes_over_budget"), 1)
        uvtap.await_that(
            lambda said: said.value("uvtap_overhead_ratio", app.pid) < BUDGET,
            "costs less than the budget", WINDOW_S + 2,
        )  # fmt: skip

    def calm_down(self, uvtap: Uvtap, app: StormApp) -> None:
        app.calm()
        back_s = self.await_door(uvtap, app.pid, "io_poll", BACK_WITHIN_S)
        print(f"back after {back_s:.1f} s")
        said = uvtap.scrape()
        self.assertEqual(said.value("uvtap_processes_over_budget"), 0)
        self.assertEqual(said.value("uvtap_door_moves_total", to="memory"), 1)
        self.assertEqual(said.value("uvtap_door_moves_total", to="back"), 1)

    def test_storm_beside_a_neighbour(self):
        """Both run one binary, so they share a probe until one of them is spared."""
        with ExitStack() as running:
            app = running.enter_context(StormApp(node(NODE)))
            neighbour = running.enter_context(App(node(NODE), "timers"))
            app_unseen = app.storm()
            time.sleep(1)
            unseen = app.calm().turns_per_second_since(app_unseen)
            uvtap = running.enter_context(Uvtap(window_s=WINDOW_S))
            uvtap.await_observed(app.pid, neighbour.pid)
            self.storm_and_calm(uvtap, app)

            own, measured, own_rate, rate = self.compare(uvtap, app)
            print(
                f"storm without a probe: utilization {measured:.4f} (own {own:.4f}), "
                f"{rate:.0f} turns/s (own {own_rate:.0f}; {unseen:.0f} before uvtap came)"
            )
            self.assertAlmostEqual(measured, own, delta=UTILIZATION_WITHIN)
            self.check_neighbour(uvtap, neighbour)
            self.calm_down(uvtap, app)
            self.check_neighbour(uvtap, neighbour)

    def check_neighbour(self, uvtap: Uvtap, neighbour: App) -> None:
        """It keeps its probe, and its figures are right."""
        before, begin = neighbour.mark("test"), uvtap.scrape()
        uvtap.pause(SPAN_S)
        after, end = neighbour.mark("test"), uvtap.scrape()
        self.assertEqual(door_of(end, neighbour.pid), "io_poll")
        own = (after.main - before.main).utilization
        measured = (end.times(neighbour.pid) - begin.times(neighbour.pid)).utilization
        print(f"neighbour: utilization {measured:.4f} (own {own:.4f})")
        self.assertAlmostEqual(measured, own, delta=NEIGHBOUR_WITHIN)

    def test_storm_that_libuv_does_not_count(self):
        with StormApp(node(OLD_NODE)) as app, Uvtap(window_s=WINDOW_S) as uvtap:
            uvtap.await_observed(app.pid)
            self.storm_and_calm(uvtap, app)
            own, measured, *_ = self.compare(uvtap, app)
            print(f"Node {OLD_NODE}: utilization {measured:.4f} (own {own:.4f})")
            self.assertAlmostEqual(measured, own, delta=UTILIZATION_WITHIN)

    def test_without_a_budget(self):
        with StormApp(node(NODE)) as app:
            with Uvtap(window_s=WINDOW_S, arguments=("--overhead-budget", "off")) as uvtap:
                uvtap.await_observed(app.pid)
                app.storm()
                said = uvtap.await_that(
                    lambda said: said.find("uvtap_overhead_ratio", app.pid)
                    and said.value("uvtap_overhead_ratio", app.pid) > 5 * BUDGET,
                    "says what the storm costs",
                )
                uvtap.pause(4)
                self.assertEqual(door_of(uvtap.scrape(), app.pid), "io_poll")
                print(f"without a budget: {said.value('uvtap_overhead_ratio', app.pid):.2f} CPU")


if __name__ == "__main__":
    tier.main((NODE, OLD_NODE))
