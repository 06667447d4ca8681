# SPDX-License-Identifier: Apache-2.0
"""Runs the daemon and reads what it serves."""

import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Callable

from .metrics import Exposition
from .nodes import REPOSITORY

# More than 1 on an emulated machine: how many times as long all may take there.
PATIENCE = float(os.environ.get("UVTAP_E2E_PATIENCE", "1"))
READY_WITHIN_S = 20.0 * PATIENCE
STOP_WITHIN_S = 5.0 * PATIENCE
ANSWER_WITHIN_S = 10.0 * PATIENCE
POLL_S = 0.01


def binary() -> Path:
    return Path(os.environ.get("UVTAP", REPOSITORY / "build" / "release" / "uvtap"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    """Runs a command of uvtap that ends by itself."""
    command = [str(binary()), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=30 * PATIENCE, **options)


class Uvtap:
    """`uvtap serve`, started at once. Use with `with`: it is ready then, and stopped at the end."""

    def __init__(
        self,
        door: str = "auto",
        window_s: int = 15,
        arguments: tuple[str, ...] = (),
        prefix: tuple[str, ...] | list[str] = (),
    ):
        """`prefix`: a command that executes the one that follows it."""
        self.door = door
        self.window_s = window_s
        self.port = free_port()
        self._log = tempfile.NamedTemporaryFile(prefix="uvtap-log-")
        self.process = subprocess.Popen(
            [
                # Not at the real-time priority that a test may have taken for itself, and not for
                # longer than the test.
                "chrt", "--other", "0", "setpriv", "--pdeathsig", "TERM", *prefix,
                str(binary()), "serve", "--listen", f"127.0.0.1:{self.port}",
                "--window", f"{window_s}s", "--front-door", door, "--per-process", *arguments,
            ],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
        )  # fmt: skip

    def __enter__(self) -> "Uvtap":
        self.await_ready()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        return self.process.pid

    def log(self) -> str:
        return Path(self._log.name).read_text(errors="replace")

    def get(self, path: str) -> tuple[int, str]:
        url = f"http://127.0.0.1:{self.port}{path}"
        try:
            with urllib.request.urlopen(url, timeout=ANSWER_WITHIN_S) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def scrape(self) -> Exposition:
        return Exposition(self.get("/metrics")[1])

    def await_that(
        self, condition: Callable[[Exposition], bool], what: str, within_s: float = ANSWER_WITHIN_S
    ) -> Exposition:
        """The first exposition that meets the condition. AssertionError after `within_s`."""
        deadline = time.monotonic() + within_s
        while True:
            exposition = self.scrape()
            if condition(exposition):
                return exposition
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {within_s} s: {what}\n{self.log()[-2000:]}")
            self.pause()

    def await_observed(self, *pids: int, within_s: float = ANSWER_WITHIN_S) -> Exposition:
        def observed(exposition: Exposition) -> bool:
            return exposition.observed_pids() >= set(pids)

        return self.await_that(observed, f"observes {pids}", within_s)

    def pause(self, seconds: float = POLL_S) -> None:
        """Waits a moment; raises at once if the daemon has ended."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return
        raise AssertionError(f"uvtap ended with {self.process.returncode}:\n{self.log()[-2000:]}")

    def stop(self) -> int:
        """Asks it to end; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_WITHIN_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._log.close()
        return self.process.returncode

    def cpu_seconds(self) -> float:
        """User and system time of the daemon so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def open_files(self) -> Counter[str]:
        """What its descriptors lead to, without numbers: how many of each. Connections are not
        counted: the one that asks is among them."""
        kinds: Counter[str] = Counter()
        for each in Path(f"/proc/{self.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                kinds[re.sub(r"\d+", "N", os.readlink(each))] += 1
        return Counter({kind: kinds[kind] for kind in kinds if not kind.startswith("socket")})

    def await_ready(self, within_s: float = READY_WITHIN_S) -> None:
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            try:
                if self.get("/readyz")[0] == 200:
                    return
            except OSError:
                pass
            self.pause()
        raise AssertionError(f"uvtap is not ready after {within_s} s:\n{self.log()}")
