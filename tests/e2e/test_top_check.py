#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`uvtap top` and `uvtap check`, on real applications."""

import json
import os
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import termios
import time
import unittest
from contextlib import ExitStack
from pathlib import Path

from support import tier, uvtap
from support.apps import App
from support.load import request
from support.nodes import node

NODE = "22"
SHOWS_WITHIN_S = 20.0
ENTER_SCREEN, LEAVE_SCREEN = "\x1b[?1049h", "\x1b[?1049l"
RED = "\x1b[31m"


def top_json(*arguments: str) -> dict:
    done = uvtap.run("top", "--once", "--json", *arguments)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def rows_of(document: dict, pid: int) -> list[dict]:
    return [row for row in document["rows"] if row["pid"] == pid]


class TopOnce(unittest.TestCase):
    def test_busy_worker_and_idle_main(self):
        """By loop each has a row of its own; by process the Workers are not mixed in either."""
        with App(node(NODE), "worker-busy") as app:
            for by in ("loop", "process", "container"):
                with self.subTest(by=by):
                    rows = rows_of(top_json("--by", by), app.pid)
                    by_kind = {row["kind"]: row for row in rows}
                    self.assertEqual(len(rows), 2)
                    self.assertLess(by_kind["main"]["utilization"], 0.1)
                    self.assertGreater(by_kind["worker"]["utilization"], 0.4)
                    self.assertEqual(by_kind["main"]["tid"], app.pid)
                    self.assertNotEqual(by_kind["worker"]["tid"], app.pid)

    def test_active_time_is_split(self):
        with App(node(NODE), "scripted") as app:
            (row,) = rows_of(top_json(), app.pid)
        parts = row["cpu_share"] + row["runqueue_share"] + row["blocked_share"]
        self.assertAlmostEqual(parts, row["utilization"], places=3)
        self.assertEqual(row["node_versions"], [app.version.removeprefix("v")])
        self.assertGreater(row["turns_per_second"], 1)
        self.assertGreater(row["delay_p95_seconds"], 0.015)

    def test_table(self):
        with App(node(NODE), "idle") as app:
            done = uvtap.run("top", "--once")
        self.assertEqual(done.returncode, 0, done.stderr)
        title = done.stdout.splitlines()[1]
        (row,) = [line for line in done.stdout.splitlines() if f"app.js/{app.pid} " in line]
        self.assertIn("WAIT p95", title)
        self.assertIn(app.version.removeprefix("v"), row)
        self.assertNotIn("\x1b", done.stdout)

    def test_beside_a_daemon(self):
        """Both see every turn, and the daemon goes on undisturbed."""
        with uvtap.Uvtap() as daemon, App(node(NODE), "scripted") as app:
            daemon.await_observed(app.pid)
            (row,) = rows_of(top_json(), app.pid)
            self.assertGreater(row["turns_per_second"], 1)
            turns = daemon.scrape().value("nodejs_eventloop_turns_total", app.pid)
            daemon.await_that(
                lambda said: said.value("nodejs_eventloop_turns_total", app.pid) > turns,
                "the daemon counts on",
            )

    def test_hostile_title(self):
        """What a process calls itself cannot reach the terminal's controls."""
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "evil\x1b[2J\n.js"
            program.write_text("setInterval(() => {}, 1000); console.log('up')")
            process = subprocess.Popen([node(NODE).binary, program], stdout=subprocess.PIPE)
            try:
                process.stdout.readline()
                done = uvtap.run("top", "--once")
            finally:
                process.kill()
                process.communicate()
        self.assertIn(f"evil?[2J?.js/{process.pid}", done.stdout)
        self.assertNotIn("\x1b", done.stdout)


class TopStream(unittest.TestCase):
    def test_json_lines(self):
        with App(node(NODE), "idle") as app:
            process = subprocess.Popen(
                [uvtap.binary(), "top", "--json"], stdout=subprocess.PIPE, text=True
            )
            try:
                documents = [json.loads(process.stdout.readline()) for _ in range(3)]
            finally:
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=10)
        self.assertEqual(process.returncode, 0)
        first, *_, last = [rows_of(document, app.pid)[0] for document in documents]
        self.assertIsNone(first["utilization"])
        self.assertIsNotNone(last["utilization"])


class Terminal:
    """`uvtap top` on a terminal of our own. Use with `with`."""

    def __init__(self, *arguments: str):
        self._own, theirs = pty.openpty()
        self.settings = termios.tcgetattr(theirs)
        self.process = subprocess.Popen(
            [uvtap.binary(), "top", *arguments], stdin=theirs, stdout=theirs, stderr=theirs
        )
        self._theirs = theirs  # stays open, so that its settings can be read at the end
        self.shown = ""

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._own)
        os.close(self._theirs)

    def await_text(self, text: str) -> None:
        """Reads on until the text was shown. AssertionError after a while."""
        deadline = time.monotonic() + SHOWS_WITHIN_S
        while text not in self.shown:
            if not self._read(max(0.0, deadline - time.monotonic())):
                raise AssertionError(f"{text!r} was not shown:\n{self.shown[-1000:]!r}")

    def type(self, keys: str) -> None:
        os.write(self._own, keys.encode())

    def is_as_before(self) -> bool:
        return termios.tcgetattr(self._theirs) == self.settings

    def _read(self, within_s: float) -> bool:
        ready, _, _ = select.select([self._own], [], [], within_s)
        if ready:
            self.shown += os.read(self._own, 65536).decode(errors="replace")
        return bool(ready)


class TopLive(unittest.TestCase):
    def test_q_quits_and_restores_the_terminal(self):
        with App(node(NODE), "idle") as app, Terminal() as terminal:
            terminal.await_text(f"app.js/{app.pid}")
            self.assertIn(ENTER_SCREEN, terminal.shown)
            self.assertFalse(terminal.is_as_before())
            terminal.type("q")
            terminal.await_text(LEAVE_SCREEN)
            self.assertEqual(terminal.process.wait(10), 0)
            self.assertTrue(terminal.is_as_before())

    def test_signals_restore_the_terminal(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number.name), Terminal() as terminal:
                terminal.await_text("Node.js")
                terminal.process.send_signal(number)
                terminal.await_text(LEAVE_SCREEN)
                self.assertEqual(terminal.process.wait(10), 0)
                self.assertTrue(terminal.is_as_before())

    def test_a_stall_shows_while_it_lasts(self):
        with App(node(NODE), "stuck") as app, Terminal() as terminal:
            terminal.await_text(f"app.js/{app.pid}")
            request(app.port, "/30000")
            terminal.await_text(f"{RED}app.js/{app.pid}")


class Check(unittest.TestCase):
    def test_this_machine(self):
        with App(node(NODE), "idle") as app:
            done = uvtap.run("check")
        self.assertEqual(done.returncode, 0, done.stdout)
        for door in ("io_poll", "tracepoint", "epoll"):
            self.assertRegex(done.stdout, rf"ok  front door {door} .* µs a hit")
        version = app.version.removeprefix("v")
        self.assertRegex(done.stdout, rf"ok  app.js/{app.pid} .*Node.js {version}, libuv 1\.")
        self.assertTrue(done.stdout.endswith("this machine can be observed\n"))

    def test_a_door_that_a_binary_does_not_have(self):
        with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
            stripped = Path(folder) / "renamed"
            shutil.copy(node(NODE).binary, stripped)
            subprocess.run(["strip", "-s", stripped], check=True)
            process = subprocess.Popen(
                [stripped, "-e", "console.log('up'); setInterval(() => {}, 1000)"],
                stdout=subprocess.PIPE,
            )
            running.callback(process.communicate)
            running.callback(process.kill)
            process.stdout.readline()
            done = uvtap.run("check", "--front-door", "io_poll")
        self.assertRegex(done.stdout, rf"no  renamed/{process.pid} .*uv__io_poll.*--front-door")
        self.assertEqual(done.returncode, 0)

    def test_not_root(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(uvtap.binary(), folder)
            done = subprocess.run(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
                 program, "check"],
                capture_output=True, text=True, timeout=30,
            )  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertIn("no  capabilities", done.stdout)
        self.assertIn("this machine cannot be observed: ", done.stdout.splitlines()[-1])
        self.assertEqual(done.stderr, "")

    def test_no_btf(self):
        """In a mount namespace of its own, with nothing where BTF stands."""
        with tempfile.TemporaryDirectory() as empty:
            hide = 'mount --bind "$0" /sys/kernel/btf && exec "$@"'
            done = subprocess.run(
                ["unshare", "--mount", "sh", "-c", hide, empty, uvtap.binary(), "check"],
                capture_output=True, text=True, timeout=30,
            )  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"no  BTF .*\n +what helps: a kernel built with")

    def test_a_daemon_goes_on(self):
        with uvtap.Uvtap() as daemon, App(node(NODE), "scripted") as app:
            daemon.await_observed(app.pid)
            self.assertEqual(uvtap.run("check").returncode, 0)
            turns = daemon.scrape().value("nodejs_eventloop_turns_total", app.pid)
            daemon.await_that(
                lambda said: said.value("nodejs_eventloop_turns_total", app.pid) > turns,
                "the daemon counts on",
            )


if __name__ == "__main__":
    tier.main((NODE,))
