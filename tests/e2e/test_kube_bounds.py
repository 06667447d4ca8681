#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The watch of the API server needs little memory, leaks nothing, and ends at once."""

import random
import socket
import time
import unittest

from support.kube_case import SANITIZED, SETTLED_S, WatchCase, container, main, simple
from support.kube_driver import Watch
from support.kube_pods import full_size

MAX_KEPT_BYTES = 2500  # of a pod
MAX_EVENT_BYTES = 8e6  # for the longest string of an event, several times over
STOPS_WITHIN_S = 0.5


class Bounds(WatchCase):
    def test_five_thousand_pods(self):
        """Each as large as with a service mesh: all are known, and little of it is kept."""
        count = 500 if SANITIZED else 5000
        with Watch(self.api) as small:
            small.await_synced()
            self.await_watching(small)
            before = small.resident_bytes(peak=True)
        for number in range(count):
            self.api.put(full_size(simple(number)))
        begin = time.monotonic()
        watch = self.watch_of()
        took = time.monotonic() - begin
        ids = [container(number) for number in range(count)]
        names = [found and found[1] for found in watch.find(*ids)]
        self.assertEqual(names, [f"pod-{number}" for number in range(count)])
        self.assertEqual(watch.state()["pods"], count)
        sent = sum(len(each) for each in self.api.store.current("")[1])
        grown = watch.resident_bytes(peak=True) - before
        print(
            f"\n{count} pods, {sent / 1e6:.0f} MB of JSON: known after {took:.1f} s, "
            f"{grown / 1e6:.1f} MB more memory at the most"
        )
        if not SANITIZED:
            self.assertLess(grown, count * MAX_KEPT_BYTES)
        self.assertEqual(watch.errors(), {})

    def test_events_of_a_megabyte(self):
        watch = self.watch_of(simple(1))
        before = watch.resident_bytes(peak=True)
        last = 4 if SANITIZED else 31
        for number in range(2, last + 1):
            self.api.put(simple(number, padding=500_000))
        watch.await_known(container(last), f"pod-{last}")
        size = len(self.api.store.current("")[1][-1])
        grown = watch.resident_bytes(peak=True) - before
        print(
            f"\n{last - 1} events of {size / 1e6:.1f} MB: "
            f"{grown / 1e6:.1f} MB more memory at the most"
        )
        self.assertNotIn(None, watch.find(*map(container, range(1, last + 1))))
        if not SANITIZED:
            self.assertLess(grown, MAX_EVENT_BYTES)
        self.assertEqual(len(self.requests("list")), 1)
        self.assertEqual(watch.errors(), {})

    @unittest.skipIf(SANITIZED, "slow; pod_directory_test.cpp has the same")
    def test_more_pods_than_it_is_willing_to_know(self):
        for number in range(10_000):
            self.api.put(simple(number))
        watch = self.watch_of()
        self.api.put(simple(10_000))
        watch.await_that(lambda: watch.errors().get("too_many_pods") == 1, "counts")
        self.assertEqual(watch.state()["pods"], 10_000)
        self.api.remove("uid-0")
        self.api.put(simple(10_001))
        watch.await_known(container(10_001), "pod-10001")
        self.assert_only(watch, "too_many_pods")

    def test_nothing_leaks(self):
        """Two hundred changes, breaks and lists later it has open what it had open, and knows
        exactly the pods that are there."""
        draw = random.Random(3)
        watch = self.watch_of(*map(simple, range(20)))
        self.turmoil(watch, draw, 20)
        resources, resident = watch.resources(), watch.resident_bytes()
        self.turmoil(watch, draw, 200)
        grown = watch.resident_bytes() - resident
        print(
            f"\nafter 200 rounds: {resources} and now {watch.resources()}, "
            f"{grown / 1e3:.0f} kB more memory, errors {watch.errors()}"
        )
        self.assertEqual(watch.resources(), resources)
        if not SANITIZED:
            self.assertLess(grown, 2e6)

    def turmoil(self, watch: Watch, draw: random.Random, rounds: int) -> None:
        alive = set(range(20))
        for _ in range(rounds):
            number = draw.randrange(20)
            if number in alive:
                self.api.remove(f"uid-{number}")
                alive.remove(number)
            else:
                self.api.put(simple(number))
                alive.add(number)
            draw.choice(
                (self.api.break_off, self.api.end_watches, self.api.send_bookmarks, self.forget)
            )()
            watch.await_that(lambda: self.knows(watch) == alive, f"knows {alive}")
            self.assertEqual(watch.state()["pods"], len(alive))
        for number in set(range(20)) - alive:
            self.api.put(simple(number))
        watch.await_that(lambda: len(self.knows(watch)) == 20, "knows all")
        self.await_watching(watch)

    def forget(self) -> None:
        self.api.store.advance()
        self.api.store.compact()
        self.api.break_off()

    @staticmethod
    def knows(watch: Watch) -> set[int]:
        found = watch.find(*map(container, range(20)))
        return {number for number, each in enumerate(found) if each}


class Ends(WatchCase):
    """Stopping takes no time, whatever it is waiting for."""

    def assert_stops(self, watch: Watch, what: str) -> None:
        watch.stop()
        print(f"\nstopped while it {what}: after {watch.stopped_in_s * 1e3:.1f} ms")
        self.assertLess(watch.stopped_in_s, STOPS_WITHIN_S)

    def test_while_it_watches(self):
        self.assert_stops(self.watch_of(simple(1)), "watches")

    def test_while_it_waits_for_an_answer(self):
        self.api.faults.head_delay_s = 5
        watch = self.watch()
        time.sleep(SETTLED_S)
        self.assert_stops(watch, "waits for an answer")

    def test_while_it_connects(self):
        """To a server that accepts, and says nothing."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            watch = self.watch(port=silent.getsockname()[1])
            with silent.accept()[0]:
                self.assert_stops(watch, "connects")

    def test_while_it_waits_to_try_again(self):
        self.api.faults.list_status = 403
        watch = self.watch()
        watch.await_that(lambda: watch.errors(), "fails")
        self.assert_stops(watch, "waits to try again")

    def test_within_an_event(self):
        watch = self.watch_of(simple(1))
        self.api.faults.stall_after_bytes = 100
        self.api.put(simple(2))
        watch.await_that(lambda: self.api.faults.stall_after_bytes == -1, "half an event is there")
        self.assert_stops(watch, "reads an event")

    def test_what_makes_no_sense_is_refused_at_once(self):
        for options, word in (
            ({"node": "a,b"}, "NODE_NAME"),
            ({"node": "x" * 300}, "NODE_NAME"),
            ({"host": "a/b"}, "KUBERNETES_SERVICE_HOST"),
        ):
            watch = Watch(self.api, **options)
            self.assertEqual(watch.process.wait(5), 1)
            self.assertIn(word, watch.log())
            watch.process.communicate()


if __name__ == "__main__":
    main()
