# SPDX-License-Identifier: Apache-2.0
"""What happens to those that uvtap talks to: the API server, scrapers, the wall clock."""

import random
import socket
import struct
import time
from collections import Counter
from threading import Event
from typing import Callable

from ..kube_api import Faults, KubeApi
from ..prometheus import Prometheus, static_scrape
from .background import Background
from .surroundings import SteppedClock
from .troubles import Troubles

HOUR_S = 3600
REQUEST = b"GET /metrics HTTP/1.1\r\nHost: uvtap\r\n\r\n"
RESET_AT_CLOSE = struct.pack("ii", 1, 0)
ANSWERS_WITHIN_S = 10.0


class Disturber(Background):
    """Does one of its acts, drawn from a seed, every so often. Use with `with`."""

    def __init__(
        self, name: str, acts: dict[str, Callable[[], None]], every_s: tuple[float, float],
        seed: int, troubles: Troubles,
    ):  # fmt: skip
        super().__init__(name)
        self.counts: Counter[str] = Counter()
        self._acts, self._every_s, self._troubles = acts, every_s, troubles
        self._draw = random.Random(f"{name} {seed}")

    def run(self) -> None:
        while not self._done.wait(self._draw.uniform(*self._every_s)):
            kind = self._draw.choice(list(self._acts))
            with self._troubles.noted(f"{self.name}, {kind}"):
                self._acts[kind]()
            self.counts[kind] += 1


def api_server_acts(api: KubeApi) -> dict[str, Callable[[], None]]:
    """Each also ends what the one before began."""

    def with_faults(**faults) -> Callable[[], None]:
        def act() -> None:
            api.faults = Faults(**faults)
            if api.listening:
                api.break_off()
            else:
                api.listen()

        return act

    def gone() -> None:
        api.faults = Faults()
        api.refuse()

    def rotate() -> None:
        api.faults = Faults()
        api.rotate_token()

    return {
        "is well": with_faults(),
        "is gone": gone,
        "new token": rotate,
        "list: 500": with_faults(list_status=500),
        "list: 403": with_faults(list_status=403),
        "list: 429": with_faults(list_status=429),
        "watch: 500": with_faults(watch_status=500),
        "list is garbage": with_faults(list_body=b"\x00{[garbage"),
        "watch is garbage": with_faults(watch_body=b'{"type": 7, "object": \xff}'),
        "breaks off": with_faults(drop_after_bytes=700),
        "stalls": with_faults(stall_after_bytes=700),
        "is slow": with_faults(head_delay_s=0.5),
        "watches end at once": with_faults(no_watch_time=True),
    }  # fmt: skip


def scraper_acts(ports: list[int], seed: int) -> dict[str, Callable[[], None]]:
    draw = random.Random(f"scrapers {seed}")

    def connect() -> socket.socket:
        return socket.create_connection(("127.0.0.1", draw.choice(ports)), ANSWERS_WITHIN_S)

    def comes_and_goes() -> None:
        connect().close()

    def half_a_request() -> None:
        with connect() as scraper:
            scraper.sendall(REQUEST[:20])

    def goes_before_the_answer() -> None:
        with connect() as scraper:
            scraper.sendall(REQUEST)

    def breaks_off_in_the_answer() -> None:
        with connect() as scraper:
            scraper.sendall(REQUEST)
            scraper.recv(100)
            scraper.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_CLOSE)

    def twenty_at_once() -> None:
        scrapers = [connect() for _ in range(20)]
        for scraper in scrapers:
            scraper.sendall(REQUEST)
        for scraper in scrapers:
            with scraper:
                if not scraper.recv(12).endswith(b"200"):
                    raise AssertionError("a scrape among twenty was refused")

    def noise() -> None:
        with connect() as scraper:
            scraper.sendall(draw.randbytes(200) + b"\r\n\r\n")

    return {
        "comes and goes": comes_and_goes,
        "half a request": half_a_request,
        "goes before the answer": goes_before_the_answer,
        "breaks off in the answer": breaks_off_in_the_answer,
        "twenty at once": twenty_at_once,
        "noise": noise,
    }


def clock_acts(clock: SteppedClock) -> dict[str, Callable[[], None]]:
    return {
        "an hour ahead": lambda: clock.step(HOUR_S),
        "an hour back": lambda: clock.step(-HOUR_S),
        "right again": lambda: clock.step(0),
    }


def machine_clock_acts() -> dict[str, Callable[[], None]]:
    """The machine's own clock, for everybody on it: right again after a second."""

    def step(seconds: int) -> None:
        begin, real = time.monotonic(), time.time()
        time.clock_settime(time.CLOCK_REALTIME, real + seconds)
        try:
            Event().wait(1)
        finally:
            time.clock_settime(time.CLOCK_REALTIME, real + time.monotonic() - begin)

    return {"an hour ahead": lambda: step(HOUR_S), "an hour back": lambda: step(-HOUR_S)}


class PrometheusComesAndGoes:
    """A real one, started and stopped in turn. Use with `with`."""

    def __init__(self, port: int):
        self._port = port
        self._running: Prometheus | None = None

    def __enter__(self) -> "PrometheusComesAndGoes":
        return self

    def __exit__(self, *_) -> None:
        if self._running:
            self._running.__exit__()
            self._running = None

    def acts(self) -> dict[str, Callable[[], None]]:
        return {"comes or goes": self._come_or_go}

    def _come_or_go(self) -> None:
        """Before it goes it has scraped without an error."""
        if not self._running:
            self._running = Prometheus([static_scrape(self._port)]).__enter__()
            return
        self._running.await_that("up == 1", what="scrapes uvtap")
        self.__exit__()
