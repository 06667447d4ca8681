# SPDX-License-Identifier: Apache-2.0
"""The clients of the applications whose loads work on request."""

import http.client
import random
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle
from threading import Event, Thread
from typing import Iterator

SEED = 20260101
CYCLE = 20
BEAT_S = 0.020


@dataclass(frozen=True)
class Shape:
    """Keep-alive connections, each of which asks again so long after its answer (seconds)."""

    connections: int
    pause_s: tuple[float, float]


SHAPES = {
    "light-io": Shape(4, (0.005, 0.03)),
    "mixed": Shape(1, (0.01, 0.09)),
    "saturated": Shape(4, (0.0, 0.0)),
    "queuing": Shape(10, (0.0, 0.0)),
    "cpu": Shape(1, (0.002, 0.004)),
    "gc-churn": Shape(1, (0.04, 0.06)),
    "sync-files": Shape(1, (0.01, 0.05)),
    "spawn-sync": Shape(1, (0.02, 0.05)),
}


class Clients:
    """Sends requests until closed. Pauses are the same few over and over, like the work, so that
    windows which are not quite the same hold the same.

    They keep away from multiples of the delay monitor's 20 ms: there, a pause that is a
    microsecond longer lets the timer fire once more before the next request, and the interval
    around it becomes 20 ms shorter. Two monitors side by side would not agree on that.
    """

    def __init__(self, port: int, shape: Shape):
        self._stop = Event()
        self._threads = [
            Thread(target=self._ask_on, args=(port, shape, SEED + index), daemon=True)
            for index in range(shape.connections)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> "Clients":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self._stop.set()

    def _ask_on(self, port: int, shape: Shape, seed: int) -> None:
        draw = random.Random(seed)
        pauses = [_off_the_beat(draw.uniform(*shape.pause_s)) for _ in range(CYCLE)]
        with _connection(port) as connection:
            for pause in cycle(pauses):
                if self._stop.wait(pause):
                    return
                connection.request("GET", "/")
                connection.getresponse().read()


def _off_the_beat(pause_s: float) -> float:
    beats, rest = divmod(pause_s, BEAT_S)
    if beats == 0 and rest < BEAT_S / 4:
        return pause_s  # too short for the timer to fire twice
    return (beats + 0.3 + 0.4 * rest / BEAT_S) * BEAT_S


@contextmanager
def _connection(port: int) -> Iterator[http.client.HTTPConnection]:
    """Ends quietly when the application has ended."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    with closing(connection), suppress(OSError, http.client.HTTPException):
        yield connection


def request(port: int, path: str) -> Thread:
    """Sends one request and does not wait for its answer."""

    def ask() -> None:
        with _connection(port) as connection:
            connection.request("GET", path)
            connection.getresponse().read()

    thread = Thread(target=ask, daemon=True)
    thread.start()
    return thread
