#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where uvtap cannot work it says why, in one line, and does not crash."""

import shutil
import socket
import subprocess
import tempfile
import unittest
from contextlib import ExitStack
from pathlib import Path

from support import tier, uvtap
from support.apps import App
from support.nodes import node
from support.places import without_tracefs

NODE = "22"


class Refused(unittest.TestCase):
    """It ends with an error code and one line that names the trouble."""

    def check(self, done: subprocess.CompletedProcess, *named: str) -> None:
        said = done.stderr.strip().splitlines()
        self.assertGreater(done.returncode, 0, done.stderr)
        for name in named:
            self.assertIn(name, done.stderr)
        self.assertLessEqual(len(said), 2, f"one line, and perhaps a hint:\n{done.stderr}")

    def test_unknown_flag(self):
        self.check(uvtap.run("serve", "--no-such-flag"), "--no-such-flag")

    def test_bad_value(self):
        self.check(uvtap.run("serve", "--window", "soon"), "--window", "soon")

    def test_bad_front_door(self):
        self.check(uvtap.run("serve", "--front-door", "back"), "--front-door", "back")

    def test_bad_environment_variable(self):
        done = uvtap.run("serve", env={"UVTAP_WINDOW": "soon"})
        self.check(done, "UVTAP_WINDOW", "soon")

    def test_unknown_command(self):
        self.check(uvtap.run("no-such-command"), "no-such-command")

    def test_port_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            self.check(uvtap.run("serve", "--listen", f"127.0.0.1:{port}"), port)

    def test_not_root(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.readable_by_all(Path(folder))
            listen = f"127.0.0.1:{uvtap.free_port()}"
            done = subprocess.run(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
                 program, "serve", "--listen", listen],
                capture_output=True, text=True, timeout=30,
            )  # fmt: skip
            self.check(done, "root")

    @staticmethod
    def readable_by_all(folder: Path) -> str:
        folder.chmod(0o755)
        return shutil.copy(uvtap.binary(), folder / "uvtap")


class NotNode(unittest.TestCase):
    """Names prove nothing."""

    def test_other_programs_called_node(self):
        with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
            impostor = shutil.copy("/bin/sleep", Path(folder) / "node")
            process = subprocess.Popen([impostor, "600"])
            running.callback(process.wait)
            running.callback(process.kill)
            app = running.enter_context(App(node(NODE), "idle"))
            with uvtap.Uvtap() as daemon:
                said = daemon.await_observed(app.pid)
            self.assertNotIn(process.pid, said.observed_pids())


class Surroundings(unittest.TestCase):
    def test_tracefs_not_mounted(self):
        """In a mount namespace of its own, without tracefs: it observes all the same."""
        with App(node(NODE), "idle") as app:
            with uvtap.Uvtap(prefix=without_tracefs()) as daemon:
                daemon.await_observed(app.pid)


if __name__ == "__main__":
    tier.main((NODE,))
