# SPDX-License-Identifier: Apache-2.0
"""Runs tests/programs/app.js and asks it for the truth."""

import json
import subprocess
import time
from dataclasses import dataclass
from threading import Lock

from .metrics import LoopTimes
from .nodes import ENVIRONMENT, Node



@dataclass(frozen=True)
class Reading:
    """A figure of the application's delay monitor in seconds; low and high are what it could as
    well be, given one sample more or less."""

    low: float
    value: float
    high: float

    def nearest(self, other: float) -> float:
        return min(max(other, self.low), self.high)


@dataclass(frozen=True)
class Mark:
    """What the application says of itself, when it was asked and when it answered. Moments are of
    CLOCK_MONOTONIC."""

    asked_s: float
    at_s: float
    main: LoopTimes
    workers: list[LoopTimes]
    delay: dict[str, Reading]  # p50, p95, p99, max since `begin`
    turns: int | None = None  # of the main loop; None: this Node.js does not tell


class App:
    """One application under a load. Use with `with`: it is ended at the end."""

    def __init__(self, node: Node, load: str, priority: int | None = None):
        """Real-time if it has a priority: that takes scheduling noise out of what it does. All its
        threads are, else the loop would wait for locks that helpers hold which get no CPU."""
        self.node = node
        self.load = load
        self._lock = Lock()
        real_time = [] if priority is None else ["chrt", "-f", str(priority)]
        self.process = subprocess.Popen(
            real_time + node.command("app.js", load),
            env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        hello = self._read()
        self.version: str = hello["node"]
        self.port: int | None = hello.get("port")

    def __enter__(self) -> "App":
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        return self.process.pid

    def ask(self, command: str) -> dict:
        with self._lock:
            return self._ask(command)

    def mark(self, observer: str) -> Mark:
        return self._mark(f"mark {observer}")

    def prepare(self, observer: str) -> Mark:
        """To be said a little before `begin`."""
        return self._mark(f"prepare {observer}")

    def begin(self, observer: str) -> Mark:
        """A mark from which this observer's delay counts."""
        return self._mark(f"begin {observer}")

    def stretches(self) -> list[tuple[float, float]]:
        """Start and end of each scripted busy stretch, in seconds of CLOCK_MONOTONIC."""
        stretches = self.ask("stretches")["stretches"]
        return [(each["start_ms"] / 1e3, each["end_ms"] / 1e3) for each in stretches]

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def _mark(self, command: str) -> Mark:
        # While another question is being answered the loop is as busy as for this one.
        asked = time.monotonic()
        with self._lock:
            answer = self._ask(command)
        return Mark(
            asked_s=asked,
            at_s=answer["at_ns"] / 1e9,
            main=_times(answer["main"]),
            workers=[_times(worker) for worker in answer["workers"]],
            delay=_delay(answer["delay_ns"]),
            turns=answer.get("turns"),
        )

    def _ask(self, command: str) -> dict:
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self._read()

    def _read(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"{self.node.name} {self.load}: the application has ended")
        return json.loads(line)


def _delay(figures: dict[str, list[float]]) -> dict[str, Reading]:
    return {name: Reading(*(ns / 1e9 for ns in around)) for name, around in figures.items()}


def _times(elu: dict) -> LoopTimes:
    return LoopTimes(elu["active_ms"] / 1e3, elu["idle_ms"] / 1e3)
