#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A process whose files or memory never answer holds up nobody but itself.

Each case makes uvtap hang on a FUSE file system that does not answer, and then asks: does it go on to
observe a witness, each second; is the hang counted and told; does it end when it is asked to?
"""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Iterator

from support import hanging_files, lying_loop, tier
from support.apps import App
from support.hanging_files import HangingFiles
from support.lying_loop import LyingLoop
from support.nodes import node
from support.pod_cgroup import HIERARCHIES
from support.uvtap import Uvtap

NODE = "22"
WINDOW_S = 5
WATCHED_S = 4.0
# A tick each second, and what a machine with other things to do may add.
LONGEST_GAP_S = 3.0
ENDS_WITHIN_S = 2.0
HANGING_THREADS = ("look", "turn_looks", "memory_door")


class HostileTest(unittest.TestCase):
    def setUp(self):
        self.running = self.enterContext(ExitStack())
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "page").write_bytes(bytes(1 << 16))
        self.lying_loop = lying_loop.build("lying_loop", self.folder)
        self.memory_lock = lying_loop.build("memory_lock", self.folder, "-static")
        self.files = self.running.enter_context(HangingFiles(self.folder))
        self.witness = self.running.enter_context(App(node(NODE), "idle"))

    def daemon(self, door: str = "auto") -> Uvtap:
        return self.running.enter_context(Uvtap(door, WINDOW_S))

    def victim(self, program: Path | None = None) -> LyingLoop:
        return self.running.enter_context(LyingLoop(program or self.lying_loop))

    def contain(self, *pids: int) -> None:
        """Puts them into one container of their own."""
        self.running.enter_context(in_one_cgroup(pids))

    def check_goes_on(self, uvtap: Uvtap) -> None:
        """The witness's time moves on with each tick."""
        uvtap.await_observed(self.witness.pid)
        began = changed = time.monotonic()
        first = last = self.observed_s(uvtap)
        longest_gap = 0.0
        while time.monotonic() - began < WATCHED_S:
            uvtap.pause(0.05)
            self.assertEqual(uvtap.get("/healthz")[0], 200)
            now = self.observed_s(uvtap)
            if now != last:
                longest_gap = max(longest_gap, time.monotonic() - changed)
                last, changed = now, time.monotonic()
        print(f"{self.id()}: longest gap {longest_gap:.2f} s, observed {last - first:.1f} s")
        longest_gap = max(longest_gap, time.monotonic() - changed)
        self.assertLess(longest_gap, LONGEST_GAP_S, uvtap.log()[-2000:])
        self.assertGreater(last - first, WATCHED_S - LONGEST_GAP_S)

    def observed_s(self, uvtap: Uvtap) -> float:
        return uvtap.scrape().times(self.witness.pid).observed

    def await_hang(self, uvtap: Uvtap, pid: int, what: str) -> None:
        """It is counted, and one line names the process and what does not answer."""
        uvtap.await_that(
            lambda said: said.total("uvtap_attach_failures_total", reason="hung") >= 1,
            "the hang is counted",
        )
        self.assertRegex(uvtap.log(), rf"pid {pid}: no answer from {what}; until there is one")

    def check_threads(self, uvtap: Uvtap, at_most: int = 2) -> None:
        """One hostile owner has no more than so many threads."""
        hanging = [name for name in hung_threads(uvtap) if name in HANGING_THREADS]
        self.assertLessEqual(len(hanging), at_most, hanging)

    def check_ends(self, uvtap: Uvtap) -> None:
        began = time.monotonic()
        uvtap.process.send_signal(signal.SIGTERM)
        self.assertEqual(uvtap.process.wait(10), 0)
        self.assertLess(time.monotonic() - began, ENDS_WITHIN_S)


@contextmanager
def in_one_cgroup(pids: tuple[int, ...]) -> Iterator[None]:
    """As the processes of one container are. What still lives at the end goes back."""
    hierarchy = next(each for each in map(Path, HIERARCHIES) if (each / "cgroup.procs").exists())
    folder = hierarchy / f"uvtap-hostile-{pids[0]}"
    folder.mkdir()
    for pid in pids:
        (folder / "cgroup.procs").write_text(str(pid))
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                (hierarchy / "cgroup.procs").write_text(str(pid))
        folder.rmdir()


def hung_threads(uvtap: Uvtap) -> list[str]:
    """The names of its threads that wait in FUSE, or for another's memory lock."""
    names = []
    for thread in Path(f"/proc/{uvtap.pid}/task").iterdir():
        if re.search(r"fuse|folio|mmap|rwsem|filemap", (thread / "stack").read_text()):
            names.append((thread / "comm").read_text().strip())
    return names


class Files(HostileTest):
    def victims_that_cannot_be_read(self, count: int) -> list[int]:
        """They run; the end of their file, where the names of functions are, was not read yet."""
        victims = [self.victim(self.files.mount / "lying_loop").pid for _ in range(count)]
        self.files.hang("read")
        self.contain(*victims)
        return victims

    def test_executable_does_not_answer(self):
        victims = self.victims_that_cannot_be_read(3)
        uvtap = self.daemon()
        hung = uvtap.await_that(
            lambda said: said.total("uvtap_attach_failures_total", reason="hung") >= 1, "it hangs"
        )
        self.assertEqual(hung.observed_pids() & set(victims), set())
        self.assertRegex(uvtap.log(), r"pid \d+: no answer from its files")
        self.check_goes_on(uvtap)
        self.check_threads(uvtap, at_most=1)
        self.assertEqual(uvtap.scrape().total("uvtap_attach_failures_total", reason="hung"), 1)

        self.files.answer()
        uvtap.await_observed(*victims, within_s=30)
        self.check_ends(uvtap)

    def test_it_ends_while_a_thread_hangs(self):
        (victim,) = self.victims_that_cannot_be_read(1)
        uvtap = self.daemon()
        self.await_hang(uvtap, victim, "its files")
        self.check_ends(uvtap)

    def test_no_probe_is_put_into_a_file_that_may_hang(self):
        victim = self.victim(self.files.mount / "lying_loop")
        uvtap = self.daemon()
        uvtap.await_observed(victim.pid)
        self.assertRegex(uvtap.log(), rf"/{victim.pid} .* through tracepoint")


class Memory(HostileTest):
    def check_memory_hangs(self, door: str) -> None:
        victim = self.victim()
        self.contain(victim.pid)
        uvtap = self.daemon(door)
        uvtap.await_observed(victim.pid, self.witness.pid)
        self.files.hang("read")
        victim.tell("map", self.files.mount / "page")
        victim.await_mapped()
        self.await_hang(uvtap, victim.pid, "its memory")
        self.check_goes_on(uvtap)
        self.check_threads(uvtap)
        lost = uvtap.scrape().value("uvtap_lost_total", reason="turn_in_progress")
        self.assertGreater(lost, 0)
        self.check_ends(uvtap)

    def test_under_a_probe(self):
        self.check_memory_hangs("tracepoint")

    def test_under_the_memory_door(self):
        self.check_memory_hangs("memory")

    def test_memory_lock_is_never_released(self):
        # Through the memory door no probe is attached anywhere: attaching one takes this lock, of
        # every process that maps the file.
        self.files.hang("write")
        victim = subprocess.Popen([self.memory_lock, self.files.mount / "page"])
        self.running.callback(victim.wait)
        self.running.callback(victim.kill)
        self.running.callback(self.files.answer)
        self.files.await_waiting()
        self.contain(victim.pid)
        uvtap = self.daemon("memory")
        self.await_hang(uvtap, victim.pid, "its files")
        self.check_goes_on(uvtap)
        self.check_threads(uvtap)
        self.check_ends(uvtap)


class Kinds(HostileTest):
    """What stands where a mapped library stood is not what was mapped: it is not opened at all."""

    def test_something_else_in_place_of_the_executable(self):
        uvtap = self.daemon()
        for number, replace in enumerate((make_fifo, link_out_of_the_root, link_to_device)):
            program = self.folder / f"app{number}"
            shutil.copy(self.lying_loop, program)
            victim = self.victim(program)
            program.unlink()
            replace(program)
            uvtap.await_observed(victim.pid, self.witness.pid)
        self.check_goes_on(uvtap)
        self.check_ends(uvtap)


def make_fifo(path: Path) -> None:
    subprocess.run(["mkfifo", path], check=True)


def link_out_of_the_root(path: Path) -> None:
    path.symlink_to("../../../../../../etc/shadow")


def link_to_device(path: Path) -> None:
    path.symlink_to("/dev/ptmx")


if __name__ == "__main__":
    if not hanging_files.is_possible():
        print("SKIPPED: needs root and /dev/fuse")
        sys.exit(tier.SKIPPED)
    tier.main((NODE,))
