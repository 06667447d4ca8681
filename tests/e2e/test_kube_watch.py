#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names from the API server: whatever the server does, no pod is lost, none is known twice, nothing
leaks, and each error is counted under its reason.

The server is support/kube_api.py. Left out against a real one: HTTP/2 and compression (uvtap asks
for neither), priority and fairness (429 is answered, Retry-After is not), lists in pages, several
servers behind one address, client certificates, audit and admission, clocks that are wrong, a
certificate that expires while uvtap runs, a network that loses packets, and load by other clients.
"""

import time

from support.kube_case import SETTLED_S, WatchCase, container, main, simple
from support.kube_pods import deployment_pod, owner, pod


class Names(WatchCase):
    def test_what_stands_behind_a_pod(self):
        """Deployment, CronJob, StatefulSet, a mirror pod, a bare one; init and ephemeral
        containers; one that is not created yet."""
        cron = owner("Job", "backup-29467080")
        watch = self.watch_of(
            deployment_pod("aaaaaa", "shop", "web", {"app": container(1), "proxy": container(2)}),
            pod("b", "shop", "backup-29467080-x", cron, {"app": container(3)}),
            pod("c", "shop", "db-0", owner("StatefulSet", "db"), {"app": container(4)},
                init={"migrate": container(5)}, ephemeral={"debug": container(6)}),
            pod("d", "kube-system", "etcd-n1", owner("Node", "n1"), {"etcd": container(7)}),
            pod("e", "shop", "bare", None, {"app": container(8), "later": ""}),
        )  # fmt: skip
        web = "web-6b7f9c5d8-aaaaa"
        self.assertEqual(
            watch.find(*map(container, range(1, 10))),
            [
                ["shop", web, "app", "Deployment", "web", ""],
                ["shop", web, "proxy", "Deployment", "web", ""],
                ["shop", "backup-29467080-x", "app", "CronJob", "backup", ""],
                ["shop", "db-0", "app", "StatefulSet", "db", ""],
                ["shop", "db-0", "migrate", "StatefulSet", "db", ""],
                ["shop", "db-0", "debug", "StatefulSet", "db", ""],
                ["kube-system", "etcd-n1", "etcd", "", "", ""],
                ["shop", "bare", "app", "", "", ""],
                None,
            ],
        )
        self.assertEqual(watch.state()["pods"], 5)
        self.assertEqual(watch.errors(), {})

    def test_pods_come_and_change_and_go(self):
        watch = self.watch_of(simple(1))
        self.api.put(pod("uid-2", "shop", "pod-2", None, {"app": ""}))
        watch.await_that(lambda: watch.state()["pods"] == 2, "a new pod")
        self.assertEqual(watch.find(container(2)), [None])
        self.api.put(simple(2))
        watch.await_known(container(2), "pod-2")
        self.api.put(pod("uid-2", "shop", "pod-2", None, {"app": container(3)}))
        watch.await_known(container(3), "pod-2")
        self.assertEqual(watch.find(container(2)), [None], "the container before a restart")
        self.api.remove("uid-2")
        watch.await_known(container(3), None)
        self.assertEqual(watch.state()["pods"], 1)
        self.assertEqual(len(self.requests("list")), 1)
        self.assertEqual(watch.errors(), {})

    def test_only_pods_of_this_node_are_asked_for(self):
        watch = self.watch_of(simple(1), simple(2, node="node-2"))
        self.api.put(simple(3, node="node-2"))
        self.api.put(simple(4))
        watch.await_known(container(4), "pod-4")
        self.assertEqual(watch.find(container(2), container(3)), [None, None])
        for each in self.api.requests:
            self.assertEqual(each.query["fieldSelector"], "spec.nodeName=node-1")
        self.assertEqual(self.requests("list")[0].query["resourceVersion"], "0")

    def test_how_it_asks(self):
        """Under a name instead of an address; says who it is, and takes no detour over a proxy that
        the environment names."""
        names = ("https_proxy", "HTTPS_PROXY", "ALL_PROXY")
        proxies = {name: "http://127.0.0.1:1" for name in names}
        watch = self.watch_of(simple(1), host="localhost", environment=proxies)
        watch.await_known(container(1), "pod-1")
        self.assertRegex(self.api.requests[0].headers["User-Agent"], r"^uvtap/\d+\.\d+\.\d+$")


class IPv6(WatchCase):
    HOST = "::1"

    def test_a_server_with_an_ipv6_address(self):
        watch = self.watch_of(simple(1))
        watch.await_known(container(1), "pod-1")
        self.assertEqual(self.api.requests[0].headers["Host"], f"[::1]:{self.api.port}")


class Streams(WatchCase):
    def test_chunks_of_any_size(self):
        for size in (1, 2, 7, 1000):
            self.api.faults.chunk_bytes = size
            watch = self.watch_of(simple(size))
            self.api.put(simple(size + 5000, padding=600))
            watch.await_known(container(size + 5000), f"pod-{size + 5000}")
            watch.await_known(container(size), f"pod-{size}")
            self.assertEqual(watch.errors(), {})
            watch.stop()
            self.api.end_watches()

    def test_a_watch_that_breaks_off_at_any_byte(self):
        """No event is lost and nothing is listed again, wherever it happens."""
        watch = self.watch_of(simple(1))
        event_bytes = 2000
        for number, cut in enumerate(range(0, event_bytes, 37), start=2):
            # The next watch begins with the event, as it has not been told of it.
            self.api.faults.drop_after_bytes = cut
            self.api.put(simple(number))
            watch.await_known(container(number), f"pod-{number}")
            self.api.faults.drop_after_bytes = -1
        self.assertEqual(watch.state()["pods"], number)
        self.assertEqual(len(self.requests("list")), 1)
        self.assertGreater(len(self.requests("watch")), event_bytes // 37 // 2)
        self.assert_only(watch, "disconnected")
        print(f"\n{watch.errors()['disconnected']} watches broke off at another byte each")

    def test_a_list_that_breaks_off_changes_nothing(self):
        watch = self.watch_of(*map(simple, range(1, 20)))
        self.api.store.advance()
        self.api.store.compact()
        self.api.faults.list_body = b""
        for cut in (0, 1, 500, 5000, 20000):
            before = len(self.requests("list"))
            self.api.store.advance()
            self.api.store.compact()
            self.api.faults.drop_after_bytes = cut
            self.api.break_off()
            watch.await_that(lambda: len(self.requests("list")) > before, "lists again")
            self.assertEqual(watch.state()["pods"], 19)
            self.assertNotIn(None, watch.find(*map(container, range(1, 20))))
            self.await_watching(watch)
        self.assert_only(watch, "disconnected", "gone")

    def test_a_watch_ends_in_time_and_goes_on_without_a_list(self):
        watch = self.watch_of(simple(1), watch_seconds=1)
        for number in range(2, 5):
            before = len(self.requests("watch"))
            watch.await_that(lambda: len(self.requests("watch")) > before, "watches again")
            self.api.put(simple(number))
            watch.await_known(container(number), f"pod-{number}")
        self.assertEqual(self.requests("watch")[0].query["timeoutSeconds"], "1")
        self.assertEqual(len(self.requests("list")), 1)
        self.assertEqual(watch.errors(), {})

    def test_watches_that_end_at_once_are_not_asked_for_without_end(self):
        watch = self.watch_of(simple(1))
        self.api.faults.no_watch_time = True
        self.api.end_watches()
        watch.await_that(lambda: watch.errors().get("disconnected", 0) >= 4, "counts")
        begin, before = time.monotonic(), len(self.requests("watch"))
        watch.await_that(lambda: len(self.requests("watch")) >= before + 3, "tries again")
        self.assertGreater(time.monotonic() - begin, 3 * 0.2)
        self.api.faults.no_watch_time = False
        watch.await_that(lambda: not watch.state()["failing"], "recovers")

    def test_a_bookmark_moves_the_version_on(self):
        watch = self.watch_of(simple(1))
        self.api.store.advance(500)
        reached = str(self.api.store.version)
        self.api.send_bookmarks()
        watch.await_that(lambda: self.end_watch(watch) == reached, "goes on from the bookmark")
        self.api.store.compact()
        self.end_watch(watch)
        self.api.put(simple(2))
        watch.await_known(container(2), "pod-2")
        self.assertEqual(len(self.requests("list")), 1)
        self.assertEqual(watch.errors(), {})

    def test_without_a_bookmark_a_quiet_watch_has_to_list_again(self):
        """The counter-check of the test before."""
        watch = self.watch_of(simple(1))
        self.api.store.advance(500)
        self.api.store.compact()
        self.end_watch(watch)
        watch.await_that(lambda: len(self.requests("list")) == 2, "lists again")
        self.assertEqual(watch.errors(), {"gone": 1})
        self.assertFalse(watch.state()["failing"], "that happens to healthy servers")

    def test_gone_in_both_forms(self):
        """What happened while the server forgot is seen in a new list: also that a pod is gone."""
        watch = self.watch_of(simple(1))
        for number, is_event in enumerate((True, False, True), start=1):
            time.sleep(SETTLED_S)
            self.api.faults.gone_is_event = is_event
            self.api.refuse()
            self.api.remove(f"uid-{number}")
            self.api.put(simple(number + 1))
            self.api.store.compact()
            self.api.listen()
            watch.await_known(container(number + 1), f"pod-{number + 1}")
            self.assertEqual(watch.find(container(number)), [None])
            self.assertEqual(watch.state()["pods"], 1)
            self.assertEqual(watch.errors()["gone"], number)
            self.await_watching(watch)


if __name__ == "__main__":
    main()
