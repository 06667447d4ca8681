#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes, loops and the daemon itself come and go: nothing is missed, nothing is left over."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from support import bpf_objects, tier
from support.apps import App
from support.load import SHAPES, Clients, request
from support.metrics import Exposition
from support.nodes import Node, node
from support.uvtap import Uvtap

NODE = "22"
OTHER_NODE = "24"
WINDOW_S = 5
SHORT_LIVED = 300
LONG_LIVED_EVERY = 30
AT_ONCE = 8
STUCK_S = 30 if os.environ.get("UVTAP_E2E_LONG") else 6


class E2eTest(unittest.TestCase):
    def setUp(self):
        self.running = self.enterContext(ExitStack())

    def app(self, load: str, build: Node | None = None) -> App:
        app = self.running.enter_context(App(build or node(NODE), load))
        if load in SHAPES:
            self.running.enter_context(Clients(app.port, SHAPES[load]))
        return app

    def uvtap(self) -> Uvtap:
        return self.running.enter_context(Uvtap("auto", WINDOW_S))

    def utilizations(self, uvtap: Uvtap, app: App, seconds: float) -> tuple[float, float]:
        """uvtap's and the application's own over about the same span."""
        begin, own_begin = uvtap.await_observed(app.pid).times(app.pid), app.mark("test").main
        uvtap.pause(seconds)
        said = uvtap.scrape().times(app.pid) - begin
        return said.utilization, (app.mark("test").main - own_begin).utilization


def short_process(milliseconds: int) -> subprocess.Popen:
    return subprocess.Popen([node(NODE).binary, "-e", f"setTimeout(() => {{}}, {milliseconds})"])


def await_gone(uvtap: Uvtap, pids: set[int]) -> None:
    """The exposition does not speak of these any more, and no map of any thread that has ended."""
    uvtap.await_that(lambda said: not said.observed_pids() & pids, "the exposition forgets them")
    for name in ("processes", "slot_of_thread"):
        uvtap.await_that(lambda _: not dead_keys(uvtap, name), f"{name} forgets them")


def dead_keys(uvtap: Uvtap, name: str) -> set[int]:
    keys = bpf_objects.map_keys(uvtap.pid, name)
    return {key for key in keys if not os.path.exists(f"/proc/{key}")}


class Order(E2eTest):
    def test_application_first(self):
        app = self.app("mixed")
        self.check_same(self.uvtap(), app)

    def test_uvtap_first(self):
        uvtap = self.uvtap()
        self.check_same(uvtap, self.app("mixed"))

    def test_uvtap_restarted_while_the_loop_is_busy(self):
        app = self.app("mixed")
        for _ in range(3):
            with Uvtap("auto", WINDOW_S) as uvtap:
                uvtap.await_observed(app.pid)
        self.check_same(self.uvtap(), app)

    def check_same(self, uvtap: Uvtap, app: App) -> None:
        said, own = self.utilizations(uvtap, app, 4)
        self.assertAlmostEqual(said, own, delta=0.1)


class LeftOvers(E2eTest):
    def test_hundred_workers(self):
        uvtap = self.uvtap()
        app = self.app("worker-churn")
        uvtap.await_observed(app.pid)
        uvtap.await_that(
            lambda said: said.total("nodejs_worker_eventloop_loops") == 0, "no Worker is left"
        )
        await_gone(uvtap, set())
        self.assertEqual(uvtap.scrape().total("uvtap_lost_total"), 0)

    def test_three_hundred_short_processes(self):
        uvtap = self.uvtap()
        steady = self.app("idle")
        uvtap.await_observed(steady.pid)
        files = uvtap.open_files()
        children, seen = self.let_live(uvtap)
        long_lived = {child.pid for child in children[::LONG_LIVED_EVERY]}
        self.assertEqual(long_lived - seen, set(), "lived longer than a second and was not seen")
        await_gone(uvtap, {child.pid for child in children})
        self.assertEqual(uvtap.open_files() - files, Counter())

    def let_live(self, uvtap: Uvtap) -> tuple[list[subprocess.Popen], set[int]]:
        """Most live 200 ms, some longer than a second. Returns all, and the pids that were seen."""
        children, seen = [], set()
        for number in range(SHORT_LIVED):
            lives_long = number % LONG_LIVED_EVERY == 0
            children.append(short_process(1500 if lives_long else 200))
            while sum(child.poll() is None for child in children) >= AT_ONCE:
                seen |= uvtap.scrape().observed_pids()
                uvtap.pause(0.02)
        while any(child.poll() is None for child in children):
            seen |= uvtap.scrape().observed_pids()
            uvtap.pause(0.05)
        return children, seen

    def test_nothing_stays_in_the_kernel(self):
        self.app("idle")
        with Uvtap() as uvtap:
            held = bpf_objects.held_by(uvtap.pid)
            self.assertTrue(all(held.values()), held)
        bpf_objects.await_freed(held)

    def test_it_ends_within_a_second(self):
        self.app("mixed")
        for number in (signal.SIGTERM, signal.SIGINT):
            with Uvtap() as uvtap:
                begin = time.monotonic()
                uvtap.process.send_signal(number)
                self.assertEqual(uvtap.process.wait(5), 0)
                self.assertLess(time.monotonic() - begin, 1)


class Files(E2eTest):
    def setUp(self):
        super().setUp()
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_binary_replaced_while_it_runs(self):
        program = self.folder / "node"
        shutil.copy(node(NODE).binary, program)
        uvtap = self.uvtap()
        old = self.app("mixed", Node("old", program))
        uvtap.await_observed(old.pid)
        shutil.copy(node(OTHER_NODE).binary, self.folder / "new")
        (self.folder / "new").rename(program)
        new = self.app("mixed", Node("new", program))
        self.assertNotEqual(old.version, new.version)
        for app in (old, new):
            said, own = self.utilizations(uvtap, app, 3)
            self.assertAlmostEqual(said, own, delta=0.1)

    def test_binary_with_an_arbitrary_name(self):
        program = self.folder / "billing-service"
        shutil.copy(node(NODE).binary, program)
        app = self.app("idle", Node("renamed", program))
        self.uvtap().await_observed(app.pid)

    def test_title_changed(self):
        app = self.app("idle")
        app.ask("title")
        self.uvtap().await_observed(app.pid)

    def test_process_that_dies_while_it_is_inspected(self):
        uvtap = self.uvtap()
        steady = self.app("idle")
        killed = set()
        for number in range(60):
            child = short_process(10000)
            uvtap.pause(0.002 * number)
            child.kill()
            child.wait()
            killed.add(child.pid)
        await_gone(uvtap, killed)
        self.assertIn(steady.pid, uvtap.scrape().observed_pids())


class InProgress(E2eTest):
    def test_stuck_loop_is_seen_while_it_is_stuck(self):
        app = self.app("stuck")
        uvtap = self.uvtap()
        uvtap.await_that(
            lambda said: said.find("nodejs_eventloop_wait_p95_seconds", app.pid), "it has a window"
        )
        answered = request(app.port, f"/{STUCK_S * 1000}")
        looks = self.looks_until(uvtap, app, STUCK_S - 0.5)
        self.assertTrue(answered.is_alive(), "it was no longer stuck")
        stalls = [said.value("nodejs_eventloop_stall_seconds", app.pid) for said in looks]
        waits = [said.value("nodejs_eventloop_wait_p95_seconds", app.pid) for said in looks]
        self.assertEqual(stalls, sorted(stalls))
        self.assertEqual(waits, sorted(waits))
        self.assertGreater(stalls[-1], STUCK_S - 2)
        self.assertGreater(waits[-1], 2)
        utilization = looks[-1].value("nodejs_eventloop_utilization", app.pid)
        self.assertGreater(utilization, 0.85)
        answered.join()
        uvtap.await_that(
            lambda said: said.value("nodejs_eventloop_stall_seconds", app.pid) < 1, "it goes on"
        )

    @staticmethod
    def looks_until(uvtap: Uvtap, app: App, seconds: float) -> list[Exposition]:
        begin, looks = time.monotonic(), []
        while time.monotonic() - begin < seconds:
            uvtap.pause(0.5)
            looks.append(uvtap.scrape())
        return looks

    def test_stopped_and_continued(self):
        """A signal makes libuv forget its idle time: Node's own figure is wrong, uvtap's is not."""
        app = self.app("idle")
        uvtap = self.uvtap()
        uvtap.await_observed(app.pid)
        begin, own_begin = uvtap.scrape().times(app.pid), app.mark("test").main
        uvtap.pause(1)
        app.process.send_signal(signal.SIGSTOP)
        uvtap.pause(2)
        app.process.send_signal(signal.SIGCONT)
        uvtap.pause(2)
        own = (app.mark("test").main - own_begin).utilization
        said = (uvtap.scrape().times(app.pid) - begin).utilization
        print(f"stopped and continued: Node says {own:.3f}, uvtap {said:.3f}")
        self.assertGreater(own, 0.3)
        self.assertLess(said, 0.02)

    def test_spawn_sync_is_active(self):
        app = self.app("spawn-sync")
        said, own = self.utilizations(self.uvtap(), app, 5)
        print(f"spawnSync: Node says {own:.3f}, uvtap {said:.3f}")
        self.assertGreater(said, 0.3)
        self.assertAlmostEqual(said, own, delta=0.1)


if __name__ == "__main__":
    tier.main((NODE, OTHER_NODE))
