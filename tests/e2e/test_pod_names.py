#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of pods come late, go away, come from elsewhere: no loop is shown twice, or under the name
of another."""

import time
import unittest

from support import containers, pods
from support.accounts import MAIN
from support.contained_uvtap import EVERY_KERNEL
from support.kube_node import PATIENCE, KubeNode, shown_labels
from support.metrics import Exposition
from support.oci import Security
from support.pod_apps import PodApp, Role
from support.pods import NAMESPACE, Pod

NODE = "22"
HELD_BACK_S = 10
LOOKS_S = 2.5  # two looks of the daemon, which are a second apart
SHOP = pods.deployment("shop")


class NamesTest(unittest.TestCase):
    def setUp(self):
        self.node = self.enterContext(KubeNode())
        self.apps: list[PodApp] = []

    def app(self, pod: Pod, *arguments, **named) -> PodApp:
        self.apps.append(self.node.app(pod, NODE, *arguments, **named))
        return self.apps[-1]

    def await_labels(self, app: PodApp, labels: dict[str, str], within_s: float) -> Exposition:
        """Until its loops are shown with these. Checks every answer until then."""

        def shown(said: Exposition) -> bool:
            self.check_shown_once(said)
            return said.total(f"{MAIN}_loops", **labels) == app.role.main_loops

        return self.node.uvtap.await_that(shown, f"it is shown as {labels}", within_s * PATIENCE)

    def check_shown_once(self, said: Exposition) -> None:
        """By its name or by its id, in one set of series or not at all."""
        for app in self.apps:
            named = {"namespace": NAMESPACE, "pod": app.pod.name, "container": app.name}
            shown = said.find(f"{MAIN}_loops", **named)
            shown += said.find(f"{MAIN}_loops", container=app.container.id)
            self.assertLessEqual(len(shown), 1, shown)
            self.assertLessEqual(sum(each.value for each in shown), app.role.main_loops)


class Late(NamesTest):
    def test_the_api_server_tells_ids_late(self):
        known, late, later = (self.app(Pod(name, SHOP)) for name in ("known", "late", "later"))
        for app in (late, later):
            self.node.api.put(app.pod.as_api_says(with_ids=False))
        self.node.announce(known)
        self.node.start_uvtap(EVERY_KERNEL)
        started = time.monotonic()
        self.await_labels(known, known.labels(), HELD_BACK_S)
        for _ in range(3):
            said = self.node.await_looked()
            self.assertEqual(shown_labels(said), [known.labels()])
            self.assertFalse(said.find(f"{MAIN}_loops", **late.labels_by_id()))
        self.node.announce(late)
        self.await_labels(late, late.labels(), LOOKS_S)
        self.await_labels(later, later.labels_by_id(), HELD_BACK_S + LOOKS_S)
        self.assertGreater(time.monotonic() - started, HELD_BACK_S - LOOKS_S)
        self.node.announce(later)
        said = self.await_labels(later, later.labels(), LOOKS_S)
        self.assertNotIn(later.container.id, said.text)


class Sources(NamesTest):
    def test_the_api_server_goes_and_comes_back(self):
        known, by_log, by_id = (Pod(name, SHOP) for name in ("known", "by-log", "by-id"))
        known = self.app(known)
        self.node.announce(known)
        self.node.start_uvtap(EVERY_KERNEL)
        self.await_labels(known, known.labels(), HELD_BACK_S)
        self.node.api.refuse()
        self.await_source("files")
        by_log, by_id = self.app(by_log), self.app(by_id)
        by_log.pod.write_logs(self.node.logs)
        self.await_labels(by_log, by_log.pod.labels_by_log(by_log.name), LOOKS_S)
        said = self.await_labels(by_id, by_id.labels_by_id(), HELD_BACK_S + LOOKS_S)
        self.assertIn(known.labels(), shown_labels(said))
        self.node.announce(by_log, by_id)
        self.node.api.listen()
        for app in self.apps:
            said = self.await_labels(app, app.labels(), 4 * HELD_BACK_S)
        self.await_source("api")
        self.assertCountEqual(shown_labels(said), [app.labels() for app in self.apps])
        self.assertGreater(said.total("uvtap_kubernetes_watch_errors_total"), 0)

    def await_source(self, source: str) -> None:
        def says(said: Exposition) -> bool:
            self.check_shown_once(said)
            return bool(said.find("uvtap_kubernetes_source", source=source))

        self.node.uvtap.await_that(says, f"names come from {source}", HELD_BACK_S * PATIENCE)

    def test_files_only(self):
        """Two containers of one pod, and one whose log has not the form of a log's name."""
        pod = Pod("pair", SHOP)
        first, second = self.app(pod, name="first"), self.app(pod, name="second")
        pod.write_logs(self.node.logs)
        (self.node.logs / "pair_other_names.log").touch()
        self.node.start_uvtap(EVERY_KERNEL, "--kubernetes", "files")
        for app in (first, second):
            self.await_labels(app, pod.labels_by_log(app.name), LOOKS_S)

    def test_off(self):
        app = self.app(Pod("unnamed"))
        self.node.announce(app)
        uvtap = self.node.start_uvtap(EVERY_KERNEL, "--kubernetes", "off")
        said = uvtap.await_observed(app.container.pid)
        self.assertEqual(shown_labels(said), [])


class Hostile(NamesTest):
    def test_it_names_another_pod(self):
        """By its title, and by cgroups that it makes below its own."""
        victim = self.app(Pod("victim", SHOP, pods.SYSTEMD))
        hostile = self.app(Pod("hostile"), security=Security(writable_cgroups=True))
        cgroup = victim.container.cgroup
        hostile.call_itself(cgroup)
        nested = hostile.nest(cgroup.lstrip("/"))
        self.assertTrue(nested["moved"], "it could make no cgroup")
        self.node.announce(victim, hostile)
        self.node.start_uvtap(EVERY_KERNEL)
        for app in (hostile, victim):
            said = self.await_labels(app, app.labels(), HELD_BACK_S)
        self.assertCountEqual(shown_labels(said), [hostile.labels(), victim.labels()])

    def test_a_pod_of_many_processes(self):
        """A title of its own for each is no label."""
        app = self.app(Pod("crew"), Role("cluster", 3))
        app.call_itself('"}\n up{a="')
        self.node.announce(app)
        self.node.start_uvtap(EVERY_KERNEL)
        said = self.await_labels(app, app.labels(), HELD_BACK_S)
        self.assertEqual(shown_labels(said), [app.labels()])


if __name__ == "__main__":
    containers.main((NODE, "debian18"))
