# SPDX-License-Identifier: Apache-2.0
"""What the test API server knows: pods, the changes they went through, and its version."""

import json
from bisect import bisect
from dataclasses import dataclass
from threading import Condition


@dataclass(frozen=True)
class Change:
    version: int
    type: str  # ADDED, MODIFIED, DELETED
    node: str
    text: str  # the pod as JSON


class PodStore:
    """As in etcd there is one version for everything, and old changes are forgotten: `compact`."""

    FIRST_VERSION = 1000

    def __init__(self):
        self.changed = Condition()
        self.version = self.FIRST_VERSION
        self._forgotten = self.FIRST_VERSION  # changes up to this one are not to be had any more
        self._pods: dict[str, Change] = {}
        self._changes: list[Change] = []

    def put(self, pod: dict) -> int:
        """Adds the pod, or replaces the one with this uid. Returns the new version."""
        with self.changed:
            kind = "MODIFIED" if pod["metadata"]["uid"] in self._pods else "ADDED"
            return self._change(kind, pod)

    def remove(self, uid: str) -> int:
        with self.changed:
            pod = json.loads(self._pods.pop(uid).text)
            return self._change("DELETED", pod)

    def advance(self, by: int = 1) -> None:
        """Something else in the cluster changes: the version moves on, and no pod with it."""
        with self.changed:
            self.version += by
            self.changed.notify_all()

    def compact(self) -> None:
        """Forgets all changes so far, but for watches that have begun."""
        with self.changed:
            self._forgotten = self.version

    def current(self, node: str) -> tuple[int, list[str]]:
        """The version, and the pods of the node as JSON. Of every node if it is empty."""
        with self.changed:
            pods = self._pods.values()
            return self.version, [each.text for each in pods if node in ("", each.node)]

    def remembers(self, version: int) -> bool:
        """Whether a watch can begin there."""
        with self.changed:
            return version >= self._forgotten

    def since(self, version: int, node: str) -> tuple[list[Change], int]:
        """The changes on this node, and the version that they lead to."""
        with self.changed:
            later = bisect(self._changes, version, key=lambda each: each.version)
            changes = [each for each in self._changes[later:] if node in ("", each.node)]
            return changes, self.version

    def await_change(self, version: int, at_most_s: float) -> None:
        """Waits until there is a newer version."""
        with self.changed:
            if self.version == version:
                self.changed.wait(at_most_s)

    def _change(self, kind: str, pod: dict) -> int:
        self.version += 1
        pod["metadata"]["resourceVersion"] = str(self.version)
        change = Change(self.version, kind, pod["spec"]["nodeName"], json.dumps(pod))
        self._changes.append(change)
        if kind != "DELETED":
            self._pods[pod["metadata"]["uid"]] = change
        self.changed.notify_all()
        return self.version
