#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Containers of a Kubernetes node, observed from a container: each has exactly its own figures.

Everything is as on a node but for the kubelet: overlayfs, runc, cgroups of every form, an API
server. The applications are quiet, then work, then are quiet again, and are asked in the quiet what
they have done. So it does not matter when exactly the daemon looks, and turns can be counted one by
one.
"""

import os
import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

from support import accounts, containers, pods
from support.accounts import MAIN, WORKERS, Comparison, OwnWords, Range, account
from support.contained_uvtap import EVERY_KERNEL, WITHOUT_SYS_ADMIN
from support.containers import Container, Image, node_image
from support.kube_node import PATIENCE, KubeNode, shown_labels
from support.metrics import Exposition
from support.oci import Mount, Process, Security
from support.pod_apps import PodApp, Role, Work
from support.pods import Pod

SHORT = bool(os.environ.get("UVTAP_E2E_SHORT"))  # a few containers only
NODES = ("22",) if SHORT else ("20", "22", "24")
WINDOW = "5m"  # longer than the test: gauges speak of all that was observed
WORK_S = 2 if SHORT else 4

UTILIZATION_WITHIN = 0.005
# It is taken that all loops of a container were found at the same moment.
BUSIEST_WITHIN = 0.01 if PATIENCE == 1 else 0.05
# Where Node.js does not tell its turns: beside the chained ones there are those between chains.
UNCHAINED_AT_MOST = 0.25

HAS_UPROBE_MULTI = tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 6)


def work(loop: int) -> Work:
    """Each loop of the test has a pace of its own."""
    links, spin_ms, pause_ms = 10, 0.2 * (1 + loop), 100
    return Work(round(1000 * WORK_S / (links * spin_ms + pause_ms)), links, spin_ms, pause_ms)


def short_cast(node: KubeNode) -> dict[str, PodApp]:
    """The first two are pods of one image."""
    shop, plain = pods.deployment("shop"), Security(uid=1000)
    crew = pods.controlled_by("StatefulSet", "crew")
    return {
        "root": node.app(Pod("shop-1", shop), "22"),
        "uid 1000": node.app(Pod("shop-2", shop, pods.SYSTEMD), "22", security=plain),
        "cluster": node.app(Pod("crew-0", crew, pods.CRI_O), NODES[-1], Role("cluster", 4)),
    }


def full_cast(node: KubeNode) -> dict[str, PodApp]:
    legacy, plain = Pod("legacy", cgroups=pods.COLONS), Security(uid=1000)
    team = Pod("team-x", pods.controlled_by("DaemonSet", "team"), pods.DOCKER)
    nightly = Pod("nightly-1", pods.cron_job("nightly"), pods.CGROUPFS_GUARANTEED)
    private = "mkdir -m 700 /tmp/own && /bin/busybox cp /node /tmp/own/node"
    return short_cast(node) | {
        "Debian's Node": node.app(legacy, "debian18", security=plain),
        "Workers": node.app(team, "20", Role("workers", 3)),
        "copied up": node.app(nightly, "22", before="chmod 755 /node"),
        # As nvm puts it below a home: where no other user than its own may look.
        "in a private folder": PodApp(
            node.containers, Pod("nvm"), Image(node_image("22").layers, "/tmp/own/node"),
            security=plain, before=private,
        ),
    }  # fmt: skip


def start_what_is_not_node(node: KubeNode, pod: Pod) -> Container:
    """A second container in the pod, whose program is only called node."""
    program = Mount(Path("/bin/sleep"), "/usr/local/bin/node")
    process = Process((program.destination, "1000"), mounts=(program,))
    return pod.start(node.containers, "proxy", node_image("22"), process)


@dataclass(frozen=True)
class Look:
    """One look of the daemon, and what all loops said just before and just after it."""

    said: Exposition
    own: dict[str, OwnWords]


def truths(apps: dict[str, PodApp]) -> dict[str, list]:
    return {name: app.truth() for name, app in apps.items()}


def look(node: KubeNode, apps: dict[str, PodApp]) -> Look:
    before, said, after = truths(apps), node.await_looked(), truths(apps)
    return Look(said, {name: OwnWords(before[name], after[name]) for name in apps})


def let_work(apps: dict[str, PodApp]) -> None:
    """All loops of all of them at once. Returns when the last one has done its work."""
    kinds = map(work, count())
    orders = [(app, list(islice(kinds, app.role.loops))) for app in apps.values()]
    with ThreadPoolExecutor(len(orders)) as pool:
        list(pool.map(lambda order: order[0].do(order[1]), orders))


def compare(apps: dict[str, PodApp], begin: Look, end: Look) -> dict[str, Comparison]:
    """Of every container, main loops and Workers apart."""

    def comparison(name: str, kind: str, which: slice) -> Comparison:
        labels = apps[name].labels()
        said = account(end.said, kind, labels) - account(begin.said, kind, labels)
        return Comparison(said, begin.own[name].of(which), end.own[name].of(which))

    compared = {}
    for name, app in apps.items():
        compared[name] = comparison(name, MAIN, slice(app.role.main_loops))
        if app.role.worker_loops:
            which = slice(app.role.main_loops, None)
            compared[f"{name}, apart"] = comparison(name, WORKERS, which)
    return compared


class Figures(unittest.TestCase):
    """With the privileges that do on every kernel."""

    capabilities = EVERY_KERNEL

    @classmethod
    def setUpClass(cls):
        running = cls.enterClassContext(ExitStack())
        cls.node = running.enter_context(KubeNode())
        cls.apps = short_cast(cls.node) if SHORT else full_cast(cls.node)
        cls.impostor = start_what_is_not_node(cls.node, cls.apps["root"].pod)
        cls.node.announce(*cls.apps.values())
        cls.at_first = truths(cls.apps)
        cls.node.start_uvtap(cls.capabilities, "--window", WINDOW)
        cls.node.await_shown(*cls.apps.values())
        cls.begin = look(cls.node, cls.apps)
        let_work(cls.apps)
        cls.end = look(cls.node, cls.apps)
        cls.compared = compare(cls.apps, cls.begin, cls.end)
        rows = [each.row(title) for title, each in cls.compared.items()]
        print("\n".join([accounts.HEADER, *rows]), flush=True)

    def test_utilization(self):
        for title, each in self.compared.items():
            with self.subTest(title):
                own = each.own_utilization.widened(UTILIZATION_WITHIN)
                self.assertTrue(own.holds(each.utilization), each.row(title))

    def test_each_turn_counts_once(self):
        for title, each in self.compared.items():
            with self.subTest(title):
                own = each.own_turns or Range(each.chained, each.chained * (1 + UNCHAINED_AT_MOST))
                self.assertTrue(own.widened(each.loops).holds(each.said.turns), each.row(title))

    def test_gauges(self):
        """Of all loops together, and of the busiest one; since the daemon observes them."""
        for name, app in self.apps.items():
            with self.subTest(name):
                loops = app.role.main_loops
                observed_s = account(self.end.said, MAIN, app.labels()).observed_s / loops
                each = self.own_since_first(name)[:loops]
                mean = Range(sum(own.low for own in each), sum(own.high for own in each))
                busiest = Range(max(own.low for own in each), max(own.high for own in each))
                mean = mean.scaled(1 / observed_s / loops).widened(UTILIZATION_WITHIN)
                busiest = busiest.scaled(1 / observed_s).widened(BUSIEST_WITHIN)
                self.check_gauge(app, "utilization", mean)
                self.check_gauge(app, "utilization_max", busiest)

    def own_since_first(self, name: str) -> list[Range]:
        """How long each loop was active since the daemon began to observe, by its own words."""
        ends = zip(self.at_first[name], self.begin.own[name].after,
                   self.end.own[name].before, self.end.own[name].after)  # fmt: skip
        return [
            Range(before.active_s - shown.active_s, after.active_s - first.active_s)
            for first, shown, before, after in ends
        ]

    def check_gauge(self, app: PodApp, name: str, own: Range) -> None:
        said = self.end.said.value(f"{MAIN}_{name}", **app.labels())
        self.assertTrue(own.holds(said), f"{name} is {said}, by its own words {own}")

    def test_names(self):
        """One set of series for each container with Node.js in it, and none for the other."""
        self.assertFalse(self.impostor.await_end(0))
        expected = [app.labels() for app in self.apps.values()]
        self.assertCountEqual(shown_labels(self.end.said), expected)
        for container in (self.impostor, *(app.container for app in self.apps.values())):
            self.assertNotIn(container.id, self.end.said.text)
        self.assertTrue(self.end.said.find("uvtap_kubernetes_source", source="api"))

    def test_best_door(self):
        """Probes, not reading memory every 2 ms: that would miss turns."""
        hits = self.end.said.value("uvtap_probe_hits_total", front_door="io_poll")
        self.assertGreater(hits, 0)
        self.assertEqual(self.end.said.total("uvtap_attach_failures_total"), 0)


class FiguresWithoutSysAdmin(Figures):
    """With less privileges, where uprobe_multi makes that possible."""

    capabilities = WITHOUT_SYS_ADMIN

    @classmethod
    def setUpClass(cls):
        if not HAS_UPROBE_MULTI:
            raise unittest.SkipTest("this kernel has no uprobe_multi")
        super().setUpClass()


if __name__ == "__main__":
    containers.main((*NODES, "debian18"))
