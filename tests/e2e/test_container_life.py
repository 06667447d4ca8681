#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes and containers of a Kubernetes node end, and come back."""

import unittest

from support import containers
from support.accounts import MAIN, account
from support.contained_uvtap import EVERY_KERNEL
from support.kube_node import PATIENCE, KubeNode, shown_labels
from support.metrics import Exposition
from support.pod_apps import PodApp, Role, Work
from support.pods import Pod

NODE = "22"
WORK = Work(chains=10, links=10, spin_ms=1, pause_ms=50)
GONE_WITHIN_S = 2.5  # a look of the daemon, and the one that was under way


class Life(unittest.TestCase):
    def setUp(self):
        self.node = self.enterContext(KubeNode())
        self.other = self.node.app(Pod("other"), NODE)

    def observe(self, *apps: PodApp) -> Exposition:
        self.node.announce(self.other, *apps)
        self.node.start_uvtap(EVERY_KERNEL)
        return self.node.await_shown(self.other, *apps)

    def test_a_process_of_a_cluster_ends(self):
        app = self.node.app(Pod("crew-0"), NODE, Role("cluster", 2))
        self.observe(app)
        app.do([WORK] * app.role.loops)
        before = account(self.node.await_looked(), MAIN, app.labels())
        app.end_one()
        said = self.node.await_loops(app, app.role.loops - 1)
        after = account(said, MAIN, app.labels())
        self.assertGreaterEqual(after.turns, before.turns)
        self.assertGreaterEqual(after.active_s, before.active_s)
        self.assertGreaterEqual(after.observed_s, before.observed_s)

    def test_a_container_is_removed(self):
        app = self.node.app(Pod("short-lived"), NODE)
        self.observe(app)
        self.node.containers.remove(app.container)
        self.node.uvtap.await_that(
            lambda said: not said.find(f"{MAIN}_loops", pod=app.pod.name),
            "its series are gone", GONE_WITHIN_S * PATIENCE,
        )  # fmt: skip
        said = self.node.await_looked()
        self.assertNotIn(app.pod.name, said.text)
        self.assertEqual(shown_labels(said), [self.other.labels()])

    def test_a_container_is_restarted(self):
        """It has another id and the same name: one set of series, of the new one."""
        pod = Pod("restarted")
        old = self.node.app(pod, NODE)
        self.observe(old)
        self.node.containers.remove(old.container)
        new = self.node.app(pod, NODE)
        self.assertNotEqual(new.container.id, old.container.id)
        self.node.announce(new)
        said = self.node.await_loops(new, 1)
        self.assertCountEqual(shown_labels(said), [self.other.labels(), new.labels()])


if __name__ == "__main__":
    containers.main((NODE, "debian18"))
