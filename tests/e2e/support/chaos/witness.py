# SPDX-License-Identifier: Apache-2.0
"""Applications that must not notice anything."""

import hashlib
import http.client
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread

from ..nodes import ENVIRONMENT, Node
from .troubles import Troubles

PAUSE_S = 0.04
ANSWERS_WITHIN_S = 20.0  # the machine is crowded
STRICT_FILTER = (sys.executable, str(Path(__file__).with_name("strict_filter.py")))


class Witness:
    """Each of its answers is a checksum over all requests so far. Use with `with`: its client asks
    until the end; the first wrong answer is the last."""

    def __init__(self, name: str, node: Node, troubles: Troubles, prefix: tuple[str, ...] = ()):
        """`prefix`: a command that executes the one that follows it."""
        self.name = name
        self.requests = 0
        self.slowest_s = 0.0
        self._troubles = troubles
        self._done = Event()
        command = ["chrt", "--other", "0", *prefix, *node.command("witness_app.js")]
        self.process = subprocess.Popen(
            command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._client = Thread(target=self._ask_on, daemon=True)

    def __enter__(self) -> "Witness":
        self._port = int(self.process.stdout.readline())
        self._client.start()
        return self

    def __exit__(self, *_) -> None:
        self._done.set()
        self._client.join(ANSWERS_WITHIN_S)
        self.process.stdin.close()
        if code := self.process.wait(ANSWERS_WITHIN_S):
            self._troubles.add(f"{self.name} ended with {code}")
        self.process.stdout.close()

    @property
    def pid(self) -> int:
        return self.process.pid

    def in_words(self) -> str:
        return f"{self.requests:,} requests answered, the slowest in {self.slowest_s * 1e3:.0f} ms"

    def _ask_on(self) -> None:
        with self._troubles.noted(self.name):
            checksum = ""
            connection = http.client.HTTPConnection("127.0.0.1", self._port, ANSWERS_WITHIN_S)
            while not self._done.wait(PAUSE_S):
                begin = time.monotonic()
                path = f"/{self.requests}"
                connection.request("GET", path)
                answer = connection.getresponse().read().decode()
                checksum = hashlib.sha256(f"{checksum}{path}".encode()).hexdigest()
                if answer != checksum:
                    raise AssertionError(f"request {self.requests} was answered {answer[:80]}")
                self.requests += 1
                self.slowest_s = max(self.slowest_s, time.monotonic() - begin)
            connection.close()
