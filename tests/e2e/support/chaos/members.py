# SPDX-License-Identifier: Apache-2.0
"""The Node.js processes of the crowd that take orders."""

import os
import signal
import subprocess
import time
from contextlib import suppress

from ..nodes import ENVIRONMENT


class Member:
    """A process of crowd_app.js, or what it has become."""

    def __init__(self, command: list[str]):
        self.process = subprocess.Popen(
            command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.stopped_at_s: float | None = None
        os.set_blocking(self.process.stdin.fileno(), False)

    def tell(self, order: str) -> None:
        """Lost on one that has been stopped for long, or has ended."""
        with suppress(BlockingIOError, BrokenPipeError, ValueError):
            os.write(self.process.stdin.fileno(), f"{order}\n".encode())

    def send(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(number)

    def stop(self) -> None:
        self.send(signal.SIGSTOP)
        self.stopped_at_s = self.stopped_at_s or time.monotonic()

    def go_on(self) -> None:
        self.send(signal.SIGCONT)
        self.stopped_at_s = None

    def end(self) -> None:
        """By itself, once it reads that nothing more will come."""
        self.go_on()
        self.process.stdin.close()

    def kill(self) -> None:
        """Returns when it is gone."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
