#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HTTP side under hostile clients: it stays bounded, goes on serving, and the observation does
not notice."""

import os
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from support import hostile_clients, tier
from support.apps import App
from support.hostile_clients import Flood, connect, exchange, many_addresses, one_address, trickle
from support.nodes import node
from support.server_files import await_files, files_at_rest
from support.uvtap import Uvtap

NODE = "22"
LIFETIME_S = 10.0  # of a connection
LATE_S = 4.0  # what a machine that is busy with this test may add
KUBELET_WAITS_S = 5.0
FLOOD = 1000
FLOOD_LASTS_S = 20.0  # until all are connected
GROWTH_BYTES = 8e6

PAGE = b"uvtap_build_info"
END = b"\r\n\r\n"

MALFORMED = {
    "noise": os.urandom(4000),
    "nothing": b"",
    "NUL bytes": b"GET /\0metrics HTTP/1.1\r\nHost: \0\r\n\r\n",
    "only line ends": b"\r\n" * 2000,
    "no line ends": b"GET /metrics HTTP/1.1 Host: x",
    "bare line feeds": b"GET /none HTTP/1.1\n\n",
    "no version": b"GET /metrics" + END,
    "a version to come": b"GET /metrics HTTP/9.9" + END,
    "TLS": bytes.fromhex("1603010200010001fc0303") + os.urandom(500),
    "a method of 5 kB": b"G" * 5000 + b" / HTTP/1.1" + END,
    "a header of 9 kB": b"GET / HTTP/1.1\r\nX: " + b"x" * 9000 + END,
    "1000 headers": b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 1000 + b"\r\n",
    "a URL of 9 kB": b"GET /" + b"x" * 9000 + b" HTTP/1.1" + END,
    "a header without colon": b"GET /none HTTP/1.1\r\nno colon here" + END,
    "a folded header": b"GET /none HTTP/1.1\r\nX: y\r\n z" + END,
}
METHODS = (b"POST", b"PUT", b"DELETE", b"OPTIONS", b"TRACE", b"CONNECT", b"PATCH", b"get", b"G\xff")
HIDDEN = b"GET /metrics HTTP/1.1\r\nHost: x" + END
BODIES = {
    "two lengths": b"POST / HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 60" + END + HIDDEN,
    "length and chunks": b"POST / HTTP/1.1\r\nContent-Length: 6\r\nTransfer-Encoding: chunked"
    + END + b"0" + END + HIDDEN,
    "chunks without end": b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked" + END
    + b"ffffffffffffffff\r\n" + HIDDEN,
    "a negative length": b"POST / HTTP/1.1\r\nContent-Length: -1" + END + HIDDEN,
    "a length beyond 64 bits": b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 30 + END + HIDDEN,
    "megabytes": b"POST / HTTP/1.1\r\nContent-Length: 8000000" + END + b"x" * 8_000_000,
    "a second request": b"GET /none HTTP/1.1" + END + HIDDEN,
}  # fmt: skip
ELSEWHERE = (
    b"/../etc/passwd", b"/%2e%2e/%2e%2e/etc/passwd", b"/..%2fetc%2fpasswd", b"//metrics",
    b"/metrics/", b"/metrics/../healthz", b"/./metrics", b"/METRICS", b"/metrics%00.html%",
    b"http://uvtap/metrics", b"http://uvtap", b"*", b"/metrics;x", b"/%", b"/%zz", b"metrics",
    b"/\xff\xfe", b"/metrics%2f",
)  # fmt: skip


class Attacked(unittest.TestCase):
    """One daemon and one application for all of these; both are the same afterwards."""

    @classmethod
    def setUpClass(cls):
        cls.app = cls.enterClassContext(App(node(NODE), "timers"))
        cls.uvtap = cls.enterClassContext(Uvtap())
        cls.uvtap.await_observed(cls.app.pid)
        cls.exchange(b"GET / HTTP/1.1" + END)
        cls.resident = cls.uvtap.resident_bytes()
        cls.files, cls.threads = files_at_rest(cls.uvtap), cls.thread_count()

    @classmethod
    def exchange(cls, request: bytes) -> bytes:
        return exchange(cls.uvtap.port, request)

    @classmethod
    def thread_count(cls) -> int:
        return len(list(Path(f"/proc/{cls.uvtap.pid}/task").iterdir()))

    def tearDown(self):
        self.assertEqual(self.uvtap.get("/healthz"), (200, "ok\n"))
        await_files(self.uvtap, self.files)
        self.assertEqual(self.thread_count(), self.threads)
        growth = self.uvtap.resident_bytes() - self.resident
        if "ASAN_OPTIONS" not in os.environ:  # it keeps what is freed for a while
            self.assertLess(growth, GROWTH_BYTES)

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """While it lasts the observation goes on second by second, and whoever asks is answered."""
        before, begun = self.observed_s(), time.monotonic()
        yield
        for _ in range(3):
            asked = time.monotonic()
            self.assertEqual(self.uvtap.get("/healthz"), (200, "ok\n"))
            self.assertLess(time.monotonic() - asked, KUBELET_WAITS_S)
            self.uvtap.pause(0.5)
        gained, passed = self.observed_s() - before, time.monotonic() - begun
        print(f"observed {gained:.1f} s of {passed:.1f} s", flush=True)
        self.assertGreater(gained, passed - LATE_S)

    def observed_s(self) -> float:
        return self.uvtap.scrape().times(self.app.pid).observed

    def check_answer(self, answer: bytes, *statuses: int) -> None:
        """To one request, and not the metrics. (libmicrohttpd 0.9.75 repeats the head of some of its
        own errors.)"""
        heads = {line for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.")}
        self.assertLessEqual(len(heads), 1, answer[:400])
        self.assertNotIn(PAGE, answer)
        if answer and statuses:
            self.assertIn(int(answer.split()[1]), statuses, answer[:200])

    def test_malformed(self):
        for name, request in MALFORMED.items():
            with self.subTest(name):
                answer = self.exchange(request)
                if name not in ("no version", "a version to come"):
                    self.check_answer(answer, 200, 400, 404, 405, 413, 414, 431, 505)

    def test_methods(self):
        for method in METHODS:
            with self.subTest(method):
                answer = self.exchange(method + b" /metrics HTTP/1.1\r\nHost: x" + END)
                self.check_answer(answer, 400, 405)

    def test_nothing_is_smuggled(self):
        for name, request in BODIES.items():
            with self.subTest(name):
                self.check_answer(self.exchange(request), 400, 404, 405, 413)

    def test_paths(self):
        for path in ELSEWHERE:
            with self.subTest(path):
                answer = self.exchange(b"GET " + path + b" HTTP/1.1\r\nHost: x" + END)
                if path != b"/metrics%00.html%":  # there the name ends: it is /metrics
                    self.check_answer(answer, 400, 404)
        self.assertIn(PAGE, self.exchange(b"GET /metrics?name=x HTTP/1.1\r\nHost: x" + END))

    def test_trickles(self):
        """Not silent, and never done: they end with the connection's lifetime."""
        begins = (b"GET /metrics HTTP/1.1\r\nX: ", b"POST / HTTP/1.1\r\nContent-Length: 99" + END,
                  b"", b"GET / HTTP/1.1\r\n")  # fmt: skip
        with self.undisturbed(), ThreadPoolExecutor(len(begins)) as pool:
            asked = [pool.submit(trickle, self.uvtap.port, each, b"x", 0.5) for each in begins]
            for each in asked:
                self.assertLess(each.result(), LIFETIME_S + LATE_S)

    def test_flood_from_one_client(self):
        self.check_flood(one_address(), b"GET /m")

    def test_flood_from_many_clients(self):
        self.check_flood(many_addresses(), b"GET /m")

    def test_flood_from_where_the_kubelet_is(self):
        self.check_flood(iter(["127.0.0.1"] * FLOOD), b"")

    def check_flood(self, addresses: Iterator[str], begin: bytes) -> None:
        """Nobody waits at the door, and who asks while it lasts is answered."""
        begun = time.monotonic()
        with self.undisturbed(), Flood(self.uvtap.port, FLOOD, addresses, begin):
            self.assertLess(time.monotonic() - begun, FLOOD_LASTS_S)
            asked = time.monotonic()
            self.assertEqual(self.uvtap.get("/healthz"), (200, "ok\n"))
            self.assertTrue(self.uvtap.scrape().observes(self.app.pid))
            self.assertLess(time.monotonic() - asked, KUBELET_WAITS_S)

    def test_connections_come_and_go(self):
        sources = many_addresses()
        with self.undisturbed():
            for number in range(FLOOD):
                with connect(self.uvtap.port, next(sources)) as connection:
                    if number % 2:
                        hostile_clients.send(connection, HIDDEN)


if __name__ == "__main__":
    tier.main((NODE,))
