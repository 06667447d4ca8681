#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus with the shipped scrape job and rules watches applications in pods: queries
made for the applications' own metrics return what the applications say, and every rule, alert and
documented query works on that data."""

import os
import sys
import time
import unittest
from dataclasses import astuple
from typing import Sequence

import yaml
from support import kube_pods, prometheus, promql_docs, tier
from support.apps import Mark
from support.prometheus import RULES, Prometheus, Samples, promtool
from support.watched_pods import (
    FLEET,
    NAMESPACE,
    NODE,
    RULE_FILES,
    WINDOW_S,
    WITH_WORKER,
    WatchedPods,
)

# The window ends up to a second before the scrape, and that is up to a second before the query. The
# load repeats every two seconds, so a window somewhat beside the application's holds the same.
UTILIZATION_BOUND = 0.05
DELAY_BOUND = 0.15  # beside one sample more or less
TICK_S = 1.0
EVALUATED_WITHIN_S = 10.0
FORGOTTEN_WITHIN_S = 4.0

scene: WatchedPods


def setUpModule():
    global scene
    scene = unittest.enterModuleContext(WatchedPods())


class PrometheusTest(unittest.TestCase):
    def setUp(self):
        self.prometheus: Prometheus = scene.prometheus


class DropIn(PrometheusTest):
    """The article's queries, unchanged."""

    def test_they_say_what_the_applications_say(self):
        delay, utilization = promql_docs.article_queries()
        self.prometheus.await_that(utilization)
        for app in scene.fleet:
            app.prepare("test")
        began = [app.begin("test") for app in scene.fleet]
        self.await_a_window_after(time.time())
        said = self.prometheus.value(utilization), self.prometheus.value(delay)
        ended = [app.mark("test") for app in scene.fleet]
        own = self.utilization(began, ended)
        delays = [astuple(each.delay["p95"]) for each in ended]
        low, value, high = (mean(figures) for figures in zip(*delays))
        print(f"utilization: Node {own:.3f}, Prometheus {said[0]:.3f}")
        print(f"delay p95: Node {value * 1e3:.1f} ms, Prometheus {said[1] * 1e3:.1f} ms")
        self.assertAlmostEqual(said[0], own, delta=UTILIZATION_BOUND)
        self.assertGreater(said[1], low * (1 - DELAY_BOUND))
        self.assertLess(said[1], high * (1 + DELAY_BOUND))

    def await_a_window_after(self, moment: float) -> None:
        """Until Prometheus has figures of the fleet whose window began after that moment."""
        oldest = f'min(timestamp(nodejs_eventloop_delay_p95_seconds{{job="{FLEET}"}}))'

        def late_enough(found: Samples) -> bool:
            return bool(found) and found[0].value > moment + WINDOW_S + TICK_S

        self.prometheus.await_that(oldest, late_enough, "a whole window has passed")

    @staticmethod
    def utilization(began: list[Mark], ended: list[Mark]) -> float:
        spans = [end.main - begin.main for begin, end in zip(began, ended)]
        return mean([span.utilization for span in spans])

    def test_a_workload_is_a_job(self):
        jobs = self.prometheus.await_that("count by (job) (nodejs_eventloop_utilization)")
        counts = {each.labels["job"]: each.value for each in jobs}
        self.assertEqual(counts[FLEET], 2)
        self.assertEqual(counts[WITH_WORKER], 1)
        self.assertIn("app.js", counts)  # of the process outside of all pods

    def test_what_uvtap_says_of_itself_is_not(self):
        (found,) = self.prometheus.await_that("uvtap_build_info")
        self.assertEqual(found.labels["job"], "uvtap")


class ScrapeJob(PrometheusTest):
    def test_labels_of_the_target(self):
        (target,) = self.prometheus.targets()
        labels = {"job": "uvtap", "instance": kube_pods.NODE, "node": kube_pods.NODE}
        self.assertEqual(target["labels"], labels)

    def test_labels_are_the_containers_own(self):
        ours = f'nodejs_eventloop_loops{{namespace="{NAMESPACE}"}}'
        for each in self.prometheus.await_that(ours, lambda found: len(found) == 3):
            self.assertEqual(each.labels["container"], "app")
            self.assertEqual(each.labels["node"], kube_pods.NODE)
            self.assertRegex(each.labels["pod"], f"^({FLEET}|{WITH_WORKER})-")
        (outside,) = self.prometheus.query('nodejs_eventloop_loops{workload="app.js"}')
        self.assertFalse({"namespace", "pod", "container"} & set(outside.labels))

    def test_the_exposition_is_faultless(self):
        done = promtool("check", "metrics", input=scene.uvtap.get("/metrics")[1])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Rules(PrometheusTest):
    def test_every_recording_rule_has_data(self):
        for rule in shipped_rules("rules.yaml"):
            workload = WITH_WORKER if "_worker_" in rule["record"] else FLEET
            with self.subTest(rule["record"]):
                self.prometheus.await_that(of_workload(rule["record"], workload))

    def test_every_rule_is_evaluated(self):
        deadline = time.monotonic() + EVALUATED_WITHIN_S
        while any(rule["health"] == "unknown" for rule in self.prometheus.rules()):
            self.assertLess(time.monotonic(), deadline, "some rule has not been evaluated")
            self.prometheus.pause()
        shipped = [rule.get("record") or rule["alert"] for rule in shipped_rules(*RULE_FILES)]
        evaluated = {rule["name"]: rule["health"] for rule in self.prometheus.rules()}
        self.assertEqual(evaluated, dict.fromkeys(shipped, "ok"))

    def test_sum_mean_and_count_fit(self):
        name = "workload:nodejs_eventloop_utilization"
        for operation in ("sum", "mean", "count"):
            self.prometheus.await_that(of_workload(f"{name}:{operation}", FLEET))
        at = time.time()  # one moment for all, so that all are of one evaluation
        values = [
            self.prometheus.value(of_workload(f"{name}:{operation}", FLEET), at - TICK_S / 2)
            for operation in ("sum", "mean", "count")
        ]
        self.assertEqual(values[2], 2)
        self.assertAlmostEqual(values[0], 2 * values[1])

    def test_a_quantile_is_of_the_merged_histograms(self):
        """One half of which are those of an idle loop."""
        (merged,) = self.prometheus.await_that(
            of_workload("workload:nodejs_eventloop_wait_seconds:p95", FLEET)
        )
        busy = self.prometheus.value(f'max(nodejs_eventloop_wait_p95_seconds{{job="{FLEET}"}})')
        print(f"wait p95: the busy pod {busy * 1e3:.0f} ms, both {merged.value * 1e3:.0f} ms")
        self.assertTrue(0.5 * busy < merged.value < busy)


class Documentation(PrometheusTest):
    def test_every_query_runs(self):
        queries = list(promql_docs.queries())
        self.assertGreater(len(queries), 10)
        for query in queries:
            with self.subTest(file=query.file, query=query.text):
                self.prometheus.query(query.text)

    def test_a_wrong_one_is_found(self):
        with self.assertRaisesRegex(prometheus.QueryError, "parse error"):
            self.prometheus.query("avg(nodejs_eventloop_utilization{)")


class UvtapStops(PrometheusTest):
    """The last one: nothing is observed afterwards."""

    def test_its_figures_are_gone_at_once(self):
        """Then a scaler holds the fleet. Frozen figures, or 0, would be worse."""
        queries = (
            *promql_docs.article_queries(),
            of_workload("workload:nodejs_eventloop_utilization:sum", FLEET),
        )
        for query in queries:
            self.prometheus.await_that(query)
        scene.uvtap.stop()
        for query in queries:
            self.prometheus.await_that(
                query, lambda found: not found, "it returns nothing", FORGOTTEN_WITHIN_S
            )
        self.assertEqual(self.prometheus.value('up{job="uvtap"}'), 0)


def shipped_rules(*names: str) -> list[dict]:
    files = [yaml.safe_load((RULES / name).read_text()) for name in names]
    return [rule for file in files for group in file["groups"] for rule in group["rules"]]


def of_workload(record: str, workload: str) -> str:
    return f'{record}{{namespace="{NAMESPACE}",workload="{workload}",container="app"}}'


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def main() -> None:
    if prometheus.missing():
        print(f"SKIPPED: {os.path.basename(sys.argv[0])}: no Prometheus: scripts/fetch-prometheus")
        sys.exit(tier.SKIPPED)
    tier.main((NODE,))


if __name__ == "__main__":
    main()
