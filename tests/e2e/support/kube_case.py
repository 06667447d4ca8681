# SPDX-License-Identifier: Apache-2.0
"""What the tests of the watch have in common: a server for each test, and pods by their numbers."""

import os
import sys
import time
import unittest

from .kube_api import KubeApi
from .kube_driver import Watch, driver
from .kube_pods import pod

# Slow, and its memory is not to be measured.
SANITIZED = os.environ.get("KUBE_WATCH_SANITIZED") == "1"
SETTLED_S = 0.1  # a watch that has lasted for so long has not ended at once


def container(number: int) -> str:
    return f"{number:064x}"


def simple(number: int, **rest) -> dict:
    """A pod with one container."""
    return pod(f"uid-{number}", "shop", f"pod-{number}", None, {"app": container(number)}, **rest)


class WatchCase(unittest.TestCase):
    """Has a server of its own, and each watch is stopped, in time, at the end."""

    HOST = "127.0.0.1"

    def setUp(self):
        self.api = self.enterContext(KubeApi(self.HOST))

    def watch(self, **options) -> Watch:
        return self.enterContext(Watch(self.api, **options))

    def watch_of(self, *pods: dict, **options) -> Watch:
        """One that has begun, and knows the pods."""
        for each in pods:
            self.api.put(each)
        watch = self.watch(**options)
        watch.await_synced()
        self.await_watching(watch)
        return watch

    def await_watching(self, watch: Watch) -> None:
        watch.await_that(lambda: self.api.watches() == 1, "watches")

    def end_watch(self, watch: Watch) -> str:
        """Ends it in good order; the version from which the next one goes on."""
        time.sleep(SETTLED_S)
        before = len(self.requests("watch"))
        self.api.end_watches()
        watch.await_that(lambda: len(self.requests("watch")) > before, "watches again")
        return self.requests("watch")[-1].query["resourceVersion"]

    def requests(self, kind: str) -> list:
        return [each for each in self.api.requests if each.kind == kind]

    def assert_only(self, watch: Watch, *reasons: str) -> None:
        """These errors, each of them, and no others have been counted."""
        self.assertEqual(set(watch.errors()), set(reasons))


def main() -> None:
    """The last line of each test file."""
    if not driver().exists():
        sys.exit(f"{driver()} is missing: scripts/build")
    unittest.main(verbosity=2)
