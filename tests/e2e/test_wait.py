#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nodejs_eventloop_wait_*: against a loop whose busy stretches are known, and against clients."""

import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from support import tier
from support.apps import App
from support.compare import bounds
from support.compare.measure import OWN_PRIORITY, start_daemon
from support.compare.observe import Window, watch
from support.load import SHAPES, Clients
from support.nodes import node
from support.prober import Prober
from support.truth import Stretch, clip, wait_percentile

NODE = "22"
PRIORITY = 10
WARM_UP_S = 2.0
PERCENTILES = ("p50", "p90", "p95", "p99")


def uvtap_wait(window: Window, pid: int, name: str) -> float:
    return window.end.exposition.value(f"nodejs_eventloop_wait_{name}_seconds", pid)


class ScriptedLoop(unittest.TestCase):
    """The stretches are written down by the loop itself, so the distribution is known."""

    WINDOW_S = 10
    DOORS = ("io_poll", "epoll", "tracepoint")

    def test_each_door_that_sees_every_turn(self):
        with ExitStack() as running:
            app = running.enter_context(App(node(NODE), "scripted", PRIORITY))
            started = [start_daemon(door, self.WINDOW_S) for door in self.DOORS]
            daemons = [running.enter_context(each) for each in started]
            for daemon in daemons:
                daemon.await_observed(app.pid)
            daemons[0].pause(WARM_UP_S)
            with ThreadPoolExecutor() as pool:
                windows = list(pool.map(lambda each: watch(each, [app], self.WINDOW_S), daemons))
            stretches = app.stretches()
        for door, window in zip(self.DOORS, windows):
            with self.subTest(door=door):
                self.compare(door, window, app.pid, stretches)

    def compare(self, door: str, window: Window, pid: int, stretches: list[Stretch]) -> None:
        begin, end = window.begin.at_s, window.end.at_s
        lengths = clip(stretches, begin, end)
        true = {
            name: wait_percentile(lengths, end - begin, float(name[1:])) for name in PERCENTILES
        }
        true["max"] = max(lengths)
        for name, expected in true.items():
            said = uvtap_wait(window, pid, name)
            print(f"{door:<12} {name:<4} {expected * 1e3:7.2f} ms, uvtap {said * 1e3:7.2f} ms")
            self.assertTrue(bounds.WAIT_SCRIPTED.allows(said, expected), f"{door} {name}")


class RealClients(unittest.TestCase):
    """Requests sent at random moments wait as long as uvtap says."""

    WINDOW_S = 15

    def test_mixed_load(self):
        self.check("mixed")

    def test_saturated_load(self):
        self.check("saturated")

    def check(self, load: str) -> None:
        with ExitStack() as running:
            uvtap = running.enter_context(start_daemon("auto", self.WINDOW_S))
            app = running.enter_context(App(node(NODE), load, PRIORITY))
            running.enter_context(Clients(app.port, SHAPES[load]))
            prober = running.enter_context(Prober(node(NODE), app.port, self.WINDOW_S))
            uvtap.await_observed(app.pid)
            uvtap.pause(WARM_UP_S)
            window = watch(uvtap, [app], self.WINDOW_S, at_begin=prober.start)
            self.compare(load, window, app.pid, prober.latencies())

    def compare(self, load: str, window: Window, pid: int, clients: dict[str, float]) -> None:
        for name in PERCENTILES:
            said, measured = uvtap_wait(window, pid, name), clients[name]
            print(f"{load:<10} {name} clients {measured * 1e3:6.1f} ms, uvtap {said * 1e3:6.1f} ms")
            self.assertTrue(bounds.WAIT_CLIENTS.allows(said, measured), f"{load} {name}")
        low, high = window.wait_bucket(pid, 75)
        print(f"{load:<10} p75 clients {clients['p75'] * 1e3:6.1f} ms, "
              f"uvtap's histogram {low * 1e3:g} to {high * 1e3:g} ms")  # fmt: skip
        nearest = min(max(clients["p75"], low), high)
        self.assertTrue(bounds.WAIT_CLIENTS.allows(nearest, clients["p75"]), f"{load} p75")


if __name__ == "__main__":
    tier.main((NODE,), OWN_PRIORITY)
