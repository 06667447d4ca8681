#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No container takes what others need, or shows more than is its own: loops, processes, labels."""

import json
import re
import secrets
import subprocess
import tempfile
import unittest
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Iterator
from uuid import uuid4

from support import bpf_objects, tier
from support.metrics import Exposition
from support.nodes import ENVIRONMENT, node
from support.pod_cgroup import HIERARCHIES
from support.uvtap import Uvtap

NODE = "22"
SHARE = 4
MANY = 3 * SHARE

START_WORKERS = """
const { Worker } = require('worker_threads');
const start = () => new Worker('setInterval(() => {}, 20)', { eval: true });
"""
WORKERS = START_WORKERS + "for (let i = 0; i < Number(process.argv[1]); i++) start();"
# Forty Workers a second, each of which lives for about 50 ms.
CHURN = START_WORKERS + """
setInterval(() => { const worker = start(); setTimeout(() => worker.terminate(), 50); }, 25);
"""
HOSTILE_SCRIPT = 'x"} 1\nuvtap_forged{a="\\\u202e\U0001f600\x1b[31m.js'
HOSTILE_PROGRAM = b'x"} 1\nuvtap_forged 2\n\xff\xc3\x28\xed\xa0\x80\xf0\x9f\x98'

LINE = re.compile(
    r"(# (HELP|TYPE) \w+ .*|\w+(\{(\w+=\"([^\"\\]|\\[\\\"n])*\",?)*\})? [-+\w.]+)", re.ASCII
)


class LimitsTest(unittest.TestCase):
    def setUp(self):
        self.running = self.enterContext(ExitStack())

    def run_node(self, *arguments: str, name: str | bytes = "node") -> subprocess.Popen:
        process = subprocess.Popen(
            [name, *arguments], executable=node(NODE).binary, env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        self.running.callback(process.wait)
        self.running.callback(process.kill)
        return process

    def with_workers(self, count: int) -> subprocess.Popen:
        return self.run_node("-e", WORKERS, str(count))

    def uvtap(self, share: int = SHARE) -> Uvtap:
        """With room for whatever else runs on this machine."""
        limits = ("--max-loops", "4096", "--max-loops-per-container", str(share))
        return self.running.enter_context(Uvtap(arguments=(*limits, "--kubernetes", "off")))

    @contextmanager
    def container(self) -> Iterator[Path]:
        """The cgroup of one, with nobody in it."""
        hierarchy = next(each for each in map(Path, HIERARCHIES) if (each / "cgroup.procs").exists())
        pods = hierarchy / "kubepods" / "burstable"
        folder = pods / f"pod{uuid4()}" / secrets.token_hex(32)
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            self.running.close()  # its processes first
            folder.rmdir()
            with suppress(OSError):  # others are there
                for each in folder.parents[:3]:
                    each.rmdir()

    def in_container(self, folder: Path, script: str, *arguments: str) -> subprocess.Popen:
        enter = 'echo $$ > "$0/cgroup.procs"; exec "$@"'
        process = subprocess.Popen(
            ["sh", "-c", enter, folder, node(NODE).binary, "-e", script, *arguments],
            env=ENVIRONMENT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        self.running.callback(process.wait)
        self.running.callback(process.kill)
        return process


def loops(said: Exposition, process: subprocess.Popen) -> float:
    """Main loops and Workers."""
    return sum(
        each.value
        for name in ("nodejs_eventloop_loops", "nodejs_worker_eventloop_loops")
        for each in said.find(name, process.pid)
    )


def beyond_share(said: Exposition) -> float:
    return said.value("uvtap_lost_total", reason="share_full")


class Loops(LimitsTest):
    def check(self, uvtap: Uvtap, greedy: subprocess.Popen, modest: subprocess.Popen) -> None:
        def settled(said: Exposition) -> bool:
            return loops(said, greedy) == SHARE and loops(said, modest) == 2

        uvtap.await_that(lambda said: beyond_share(said) > MANY and settled(said), "shares are kept")
        self.assertTrue(settled(uvtap.scrape()))
        self.assertIn("a process has 4 loops, its share", uvtap.log())

    def test_workers_that_are_there_first(self):
        greedy, modest = self.with_workers(MANY), self.with_workers(1)
        self.check(self.uvtap(), greedy, modest)

    def test_workers_that_come_later(self):
        uvtap = self.uvtap()
        self.check(uvtap, self.with_workers(MANY), self.with_workers(1))

    def test_default(self):
        """64 Workers are nothing that anyone would notice."""
        uvtap = self.running.enter_context(Uvtap(arguments=("--max-loops", "512")))
        before = beyond_share(uvtap.scrape())
        many = self.with_workers(64)
        uvtap.await_that(lambda said: loops(said, many) == 65, "all loops are observed", 20)
        self.assertEqual(beyond_share(uvtap.scrape()), before)

    def test_what_is_returned_can_be_taken_again(self):
        uvtap = self.uvtap()
        churning = self.run_node("-e", CHURN)
        uvtap.await_observed(churning.pid)
        uvtap.pause(3)
        said = uvtap.scrape()
        turns = said.value("nodejs_worker_eventloop_turns_total", churning.pid)
        uvtap.await_that(
            lambda said: said.value("nodejs_worker_eventloop_turns_total", churning.pid) > turns,
            "Workers are observed after a hundred others",
        )
        churning.kill()
        churning.wait()
        uvtap.await_that(lambda said: not loops(said, churning), "it is gone")
        steady = self.with_workers(1)
        uvtap.await_that(lambda said: loops(said, steady) == 2, "another one is observed")

    def test_no_account_is_left_over(self):
        uvtap = self.uvtap()
        process = self.with_workers(1)
        uvtap.await_that(lambda said: loops(said, process) == 2, "it is observed")
        own = self.accounts(uvtap)
        self.assertTrue(own)
        process.kill()
        process.wait()
        for name in ("taken_slots", "returned_slots"):
            uvtap.await_that(
                lambda _: not own <= bpf_objects.map_keys(uvtap.pid, name), f"{name} forgets it"
            )

    @staticmethod
    def accounts(uvtap: Uvtap) -> set[int]:
        """The newest one: numbers only go up."""
        return {max(bpf_objects.map_keys(uvtap.pid, "taken_slots"))}


class Containers(LimitsTest):
    def test_processes_share(self):
        """Two processes of a container: together they have no more loops than its share."""
        with self.container() as folder:
            uvtap = self.uvtap()
            crew = [self.in_container(folder, WORKERS, str(MANY)) for _ in range(2)]
            other = self.with_workers(1)
            said = uvtap.await_that(
                lambda said: beyond_share(said) > 0
                and sum(loops(said, each) for each in crew) == SHARE
                and loops(said, other) == 2,
                "the container has its share, the other process all of its loops",
            )
            self.assertLessEqual(sum(loops(said, each) for each in crew), SHARE)
            container = f"{folder.parent.name.removeprefix('pod')}/{folder.name}"
            self.assertIn(f"container {container} has 4 loops, its share", uvtap.log())

    def test_processes_beyond_the_share(self):
        """They are passed over, counted, and observed once there is a place."""
        idle = "setInterval(() => {}, 20)"
        with self.container() as folder:
            uvtap = self.uvtap(share=2)
            crew = [self.in_container(folder, idle) for _ in range(3)]
            pids = {each.pid for each in crew}

            def passed_over(said: Exposition) -> bool:
                counted = said.value("uvtap_limited_total", limit="processes_per_container")
                return counted > 0 and len(pids & said.observed_pids()) == 2

            observed = uvtap.await_that(passed_over, "one is passed over").observed_pids()
            gone = next(each for each in crew if each.pid in observed)
            gone.kill()
            gone.wait()
            uvtap.await_that(
                lambda said: said.observed_pids() >= pids - {gone.pid}, "the third", within_s=20
            )


class Labels(LimitsTest):
    def test_names_that_would_forge_a_page(self):
        """Of a script, of a program, and what a process calls itself."""
        script = Path(self.enterContext(tempfile.TemporaryDirectory()), HOSTILE_SCRIPT)
        script.write_text("setInterval(() => {}, 20)")
        title = f"process.title = {json.dumps(HOSTILE_SCRIPT * 9)}; setInterval(() => {{}}, 20)"
        uvtap = self.uvtap()
        apps = [
            self.run_node(str(script)),
            self.run_node("-e", "setInterval(() => {}, 20)", name=HOSTILE_PROGRAM * 100),
            self.run_node("-e", title, "x" * 500),
        ]
        said = uvtap.await_observed(*(each.pid for each in apps))
        for line in said.text.splitlines():
            self.assertTrue(line.isprintable(), ascii(line))
            self.assertRegex(line, rf"^{LINE.pattern}$")
            self.assertFalse(line.startswith("uvtap_forged"), line)
        for each in apps:
            (shown,) = said.find("nodejs_eventloop_loops", each.pid)
            self.assertLessEqual(len(shown.labels["process"].encode()), 256)


if __name__ == "__main__":
    tier.main((NODE,))
