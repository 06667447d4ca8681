#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When the API server refuses, is away, or talks nonsense: uvtap counts it under its reason,
keeps what it knows, and goes on by itself. See test_kube_watch.py for what is left out."""

import socket
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from support.kube_api import KubeApi
from support.kube_case import SETTLED_S, WatchCase, container, main, simple
from support.kube_driver import Watch


class Refusals(WatchCase):
    def test_the_token_is_read_anew(self):
        watch = self.watch_of(simple(1))
        self.api.rotate_token()
        self.end_watch(watch)
        self.api.put(simple(2))
        watch.await_known(container(2), "pod-2")
        self.assertEqual(watch.errors(), {})

    def test_a_token_that_is_rotated_while_it_is_used(self):
        """One refusal is counted, and is no failure: with the new token it goes on at once."""
        watch = self.watch_of(simple(1))
        self.api.faults.token_follows_refusal = True
        self.api.rotate_token(write=False)
        self.end_watch(watch)
        watch.await_that(lambda: self.requests("watch")[-1].status == 200, "watches again")
        self.assertEqual(watch.errors(), {"unauthorized": 1})
        self.assertFalse(watch.state()["failing"])
        self.assertEqual(len(self.requests("list")), 1)

    def test_a_token_that_stays_wrong(self):
        """After the second refusal it takes its time, and goes on when the token is there."""
        watch = self.watch_of(simple(1))
        self.api.rotate_token(write=False)
        self.end_watch(watch)
        watch.await_that(lambda: watch.errors().get("unauthorized", 0) >= 6, "refused")
        self.assertTrue(watch.state()["failing"])
        self.assertIn("401", watch.state()["last_error"])
        self.api.put(simple(2))
        self.api.write_token()
        watch.await_known(container(2), "pod-2")
        self.assert_only(watch, "unauthorized")

    def test_no_token(self):
        token = self.api.credentials / "token"
        for content in (None, "", "two words\r\nX-Header: 1", "x" * 20000):
            token.unlink(missing_ok=True)
            if content is not None:
                token.write_text(content)
            watch = self.watch()
            watch.await_that(lambda: watch.errors().get("credentials"), "counts")
            self.assertIn("token", watch.state()["last_error"])
            watch.stop()
        self.assertEqual(self.api.requests, [])
        watch = self.watch()
        self.api.write_token()
        watch.await_synced()

    def test_forbidden(self):
        """Says what permission is missing, asks seldom, and starts by itself once it is given."""
        self.api.put(simple(1))
        self.api.faults.list_status = 403
        watch = self.watch()
        watch.await_that(lambda: watch.errors().get("forbidden", 0) >= 3, "forbidden")
        for word in ("403", "ClusterRole", "get, list and watch on pods"):
            self.assertIn(word, watch.state()["last_error"])
        self.assertLess(len(self.requests("list")), 8)
        self.api.faults.list_status = 0
        watch.await_known(container(1), "pod-1")
        self.api.faults.watch_status = 403
        self.end_watch(watch)
        watch.await_that(lambda: watch.state()["failing"], "fails")
        self.assertEqual(watch.find(container(1))[0][1], "pod-1", "what was known stays known")
        self.assert_only(watch, "forbidden")

    def test_other_statuses(self):
        """None of them is followed to another place."""
        self.api.put(simple(1))
        watch = self.watch()
        watch.await_synced()
        for status in (301, 307, 400, 404, 429, 500, 503, 504):
            before = watch.errors().get("http", 0)
            self.api.faults.list_status = self.api.faults.watch_status = status
            self.end_watch(watch)
            watch.await_that(lambda: watch.errors().get("http", 0) > before, f"counts {status}")
            watch.await_that(lambda: str(status) in watch.state()["last_error"], "says which")
            self.api.faults.list_status = self.api.faults.watch_status = 0
            watch.await_that(lambda: not watch.state()["failing"], "recovers")
            self.await_watching(watch)
        self.assertEqual(self.requests("other"), [])
        self.assert_only(watch, "http")

    def test_410_again_and_again(self):
        """Does not run in circles, and asks for the newest list instead of a cached one."""
        watch = self.watch_of(simple(1))
        self.api.faults.watch_status = 410
        self.end_watch(watch)
        watch.await_that(lambda: watch.errors().get("gone", 0) >= 6, "counts")
        self.assertTrue(watch.state()["failing"])
        self.assertNotIn("resourceVersion", self.requests("list")[-1].query)
        self.api.faults.watch_status = 0
        watch.await_that(lambda: not watch.state()["failing"], "recovers")
        self.assert_only(watch, "gone")


class Absences(WatchCase):
    def test_a_server_that_comes_later_and_goes_and_comes(self):
        """While it is away its pods stay known; what has changed meanwhile is not lost."""
        self.api.put(simple(1))
        self.api.refuse()
        watch = self.watch()
        watch.await_that(lambda: watch.errors().get("unreachable", 0) >= 3, "counts")
        self.assertEqual(watch.state()["synced"], False)
        self.api.listen()
        watch.await_known(container(1), "pod-1")
        self.await_watching(watch)
        self.api.refuse()
        watch.await_that(lambda: watch.state()["failing"], "notices")
        self.assertEqual(watch.find(container(1))[0][1], "pod-1")
        self.api.remove("uid-1")
        self.api.put(simple(2))
        self.api.listen()
        watch.await_known(container(2), "pod-2")
        self.assertEqual(watch.find(container(1)), [None])
        self.assertEqual(len(self.requests("list")), 1)
        self.assert_only(watch, "unreachable", "disconnected")

    def test_it_is_said_once(self):
        """One line for each reason, not for each attempt, and one when it is over."""
        self.api.refuse()
        watch = self.watch()
        watch.await_that(lambda: watch.errors().get("unreachable", 0) >= 8, "counts")
        self.assertEqual(watch.log().count("\n"), 1)
        self.api.faults.list_status = 403
        self.api.listen()
        watch.await_that(lambda: watch.errors().get("forbidden", 0) >= 3, "counts")
        self.assertEqual(watch.log().count("\n"), 2)
        self.api.faults.list_status = 0
        watch.await_that(lambda: not watch.state()["failing"], "recovers")
        self.assertEqual(watch.log().count("\n"), 3)

    def test_slow_answers(self):
        self.api.faults.head_delay_s = 0.5
        watch = self.watch_of(simple(1))
        self.assertEqual(watch.errors(), {})
        self.api.faults.head_delay_s = 10
        self.end_watch_slowly(watch)
        watch.await_that(lambda: watch.errors().get("timeout", 0) >= 1, "counts")
        self.api.put(simple(2))
        self.api.faults.head_delay_s = 0
        watch.await_known(container(2), "pod-2")
        self.assert_only(watch, "timeout")

    def end_watch_slowly(self, watch: Watch) -> None:
        time.sleep(SETTLED_S)
        self.api.end_watches()
        watch.await_that(lambda: self.api.watches() == 0, "the watch has ended")

    def test_an_answer_that_comes_to_a_halt(self):
        """In a list, and in a watch: there when its whole time is over."""
        self.api.put(simple(1))
        self.api.faults.stall_after_bytes = 300
        watch = self.watch(watch_seconds=1)
        watch.await_that(lambda: watch.errors().get("timeout") == 1, "the list")
        watch.await_known(container(1), "pod-1")
        self.await_watching(watch)
        self.api.faults.stall_after_bytes = 300
        self.api.put(simple(2))
        watch.await_that(lambda: watch.errors().get("timeout") == 2, "the watch")
        watch.await_known(container(2), "pod-2")
        self.assertEqual(len(self.requests("list")), 2)
        self.assert_only(watch, "timeout")

    def test_whom_it_does_not_trust(self):
        """Another CA, a certificate for another host, no TLS at all, no CA."""
        with KubeApi() as other, KubeApi("127.0.0.2") as elsewhere, TemporaryDirectory() as empty:
            (Path(empty) / "token").write_text("x")
            plain = self.enterContext(socket.create_server(("127.0.0.1", 0)))
            for options in (
                {"credentials": other.credentials},
                {"host": "127.0.0.2", "port": elsewhere.port, "credentials": elsewhere.credentials},
                {"credentials": Path(empty)},
            ):
                watch = self.watch(**options)
                watch.await_that(lambda: watch.errors().get("tls"), f"counts {options}")
                self.assertFalse(watch.state()["synced"])
                self.assert_only(watch, "tls")
            watch = self.watch(port=plain.getsockname()[1])
            with plain.accept()[0] as connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n{}")
                watch.await_that(lambda: watch.errors().get("tls"), "counts what is not TLS")
            self.assertEqual(other.requests + elsewhere.requests + self.api.requests, [])


class Nonsense(WatchCase):
    def test_lists_that_are_none(self):
        """They change nothing of what is known."""
        item = b'{"metadata":{"name":"x","namespace":"y","uid":"z"}}'
        version = b'"metadata":{"resourceVersion":"7"}'
        watch = self.watch_of(simple(1))
        for body, reason in (
            (b"<html>", "malformed"),
            (b"[]", "malformed"),
            (b"{}", "malformed"),
            (b'{"items":[' + item + b"]}", "malformed"),  # no version
            (b"{" + version + b',"items":[{}]}', "malformed"),  # no pod
            (b"{" + version + b',"items":[' + item, "malformed"),  # not whole
            (b"{" + version + b"} {", "malformed"),  # more than a list
            (b"\xff\xfe" * 100, "malformed"),
            (b"[" * 5000, "malformed"),
            (b'{"items":["' + b"x" * (3 << 20) + b'"]}', "too_large"),
            (b"{" + version + b"," + b" " * (3 << 20) + b'"items":[]}', "too_large"),
        ):
            time.sleep(SETTLED_S)
            self.api.faults.list_body = body
            self.api.faults.watch_body = b"nonsense"  # so that it lists again
            before = watch.errors().get(reason, 0) + (reason == "malformed")
            self.api.end_watches()
            watch.await_that(
                lambda: watch.errors().get(reason, 0) > before, f"counts {body[:50]} as {reason}"
            )
            self.assertEqual(watch.state()["pods"], 1)
            self.assertNotEqual(watch.find(container(1)), [None])
            self.api.faults.list_body = self.api.faults.watch_body = b""
            watch.await_that(lambda: not watch.state()["failing"], "recovers")
            self.await_watching(watch)
        self.assert_only(watch, "malformed", "too_large")

    def test_events_that_are_none(self):
        """A new list leads around them."""
        watch = self.watch_of(simple(1))
        for number, (body, reason) in enumerate(
            (
                (b"nonsense", "malformed"),
                (b'{"type":"ADDED","object":{}}\n', "malformed"),
                (b'{"type":"MOVED","object":{"metadata":{"resourceVersion":"7"}}}\n', "malformed"),
                (b'{"type":"BOOKMARK","object":{}}\n', "malformed"),
                (b'{"type":"ADDED"', "malformed"),
                (b'{"x":' * 1000, "malformed"),
                (b'{"type":"' + b"x" * (3 << 20) + b'"}', "too_large"),
                (b'{"a":"' + (b"x" * (1 << 20) + b'","a":"') * 17, "too_large"),
                (b'{"type":"ERROR","object":{"code":500}}\n', "http"),
                (b'{"type":"ERROR","object":{"code":410}}\n', "gone"),
            ),
            start=2,
        ):
            time.sleep(SETTLED_S)
            before, lists = watch.errors().get(reason, 0), len(self.requests("list"))
            self.api.faults.watch_body = body
            self.api.faults.no_watch_time = True
            self.api.end_watches()
            watch.await_that(
                lambda: watch.errors().get(reason, 0) > before, f"counts {body[:50]} as {reason}"
            )
            watch.await_that(lambda: len(self.requests("list")) > lists, "lists again")
            self.api.put(simple(number))
            self.api.faults.watch_body = b""
            self.api.faults.no_watch_time = False
            watch.await_known(container(number), f"pod-{number}")
            watch.await_that(lambda: not watch.state()["failing"], "recovers")
            self.await_watching(watch)
        self.assert_only(watch, "malformed", "too_large", "http", "gone")


if __name__ == "__main__":
    main()
