#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scaling benchmark: load goes in, pods come out, and the figures are those of what happened."""

import os
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

from support import prometheus, tier
from support.nodes import REPOSITORY
from support.scaler import Decision

sys.path.append(str(REPOSITORY / "scripts" / "support"))

from benchmark import report, scenarios, tools, workloads  # noqa: E402
from benchmark.cgroups import hierarchy  # noqa: E402
from benchmark.lane import FleetSize, Record  # noqa: E402
from benchmark.outcome import outcome  # noqa: E402
from benchmark.pace import Pace  # noqa: E402
from benchmark.pod import NODE  # noqa: E402
from benchmark.run import Result, run  # noqa: E402
from benchmark.users import Request  # noqa: E402
from benchmark.witness import Look  # noqa: E402
from benchmark.workloads import Workload  # noqa: E402

SEED = 1
FIRST_PODS = 2
# Long enough without new pods for the witness to see two pods overloaded.
FAST = Pace(scrape=2, sync=3, container=2, readiness=4, unlisted=1, grace=5)
# Three or four times what two pods can answer in time.
SHORT = Workload("short", "Short", "block", ((8, 2), (2, 60), (25, 60), (2, 2), (3, 2)), "BCD", 37)
ANSWERED_FROM_S = 0.08  # what the work alone takes


class Run(unittest.TestCase):
    """A spike of forty seconds, three ways to scale."""

    @classmethod
    def setUpClass(cls):
        cls.result = run(SHORT, FAST, SEED, lambda line: print(line, flush=True))
        cls.outcomes = {
            each.scenario.key: outcome(each, SHORT) for each in cls.result.records
        }
        print(report.table(cls.result))

    def test_requests_are_answered(self):
        for key, one in self.outcomes.items():
            with self.subTest(scenario=key):
                self.assertGreater(one.requests, 300)
                self.assertEqual(one.errors, 0)
                self.assertGreater(one.p50_s, ANSWERED_FROM_S)

    def test_pods_are_added(self):
        for record in self.result.records:
            one = self.outcomes[record.scenario.key]
            with self.subTest(scenario=record.scenario.key):
                self.assertGreater(one.peak_pods, FIRST_PODS)
                self.assertGreater(one.first_pod_s, 0, record.looks)

    def test_new_pods_take_load(self):
        """Two pods cannot answer more than 25 requests a second."""
        for record in self.result.records:
            late = [each for each in record.requests if 25 <= each.at_s < 35 and each.ok]
            with self.subTest(scenario=record.scenario.key):
                self.assertGreater(len(late) / 10, 25)

    def test_the_witness_sees_it(self):
        for record in self.result.records:
            with self.subTest(scenario=record.scenario.key):
                before = [each.utilization for each in record.looks if each.at_s < 8]
                during = [each.utilization for each in record.looks if 10 < each.at_s < 35]
                self.assertLess(max(before), 0.5)
                self.assertGreater(max(during), 0.7)

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            report.write(Path(folder), [self.result], report.Circumstances("command", "today", SEED))
            text = Path(folder, "results.md").read_text()
            for name in ("short.svg", "short-signals.svg"):
                self.assertIn(f"({name})", text)
                lines = ET.parse(Path(folder, name)).iterfind(".//{*}path[@stroke-width='1.8']")
                self.assertGreaterEqual(len([each for each in lines if each.get("d")]), 3)
        self.assertEqual(text.count("| **"), len(self.result.records))

    def test_nothing_is_left(self):
        left = [
            folder for record in self.result.records for folder in hierarchy().glob("kubepods/*/pod*")
            if folder.name in {f"pod{uid}" for uid in record.pod_uids}
        ]  # fmt: skip
        self.assertEqual(left, [])


class Figures(unittest.TestCase):
    """Of a record that is made up."""

    def test_outcome(self):
        workload = Workload("x", "X", "block", ((10, 1), (20, 9), (30, 9), (10, 1)), "C", 60)
        record = Record(scenarios.ALL["C"], ())
        record.requests = [Request(5, 9.0, False)]  # in the warm-up
        record.requests += [Request(10 + i / 4, (i + 1) / 100, i % 100 != 99) for i in range(200)]
        record.looks = [Look(t, 1.0 if 20 <= t < 30 else 0.5, 0.25) for t in range(0, 70, 2)]
        record.sizes = [FleetSize(0, 2, 2, 2), FleetSize(25, 3, 3, 2), FleetSize(52, 3, 3, 3)]
        record.lives = [(-3600, 70), (-3600, 70), (25, 65)]
        one = outcome(record, workload)
        self.assertEqual((one.p50_s, one.p95_s, one.p99_s), (1.0, 1.9, 1.98))
        self.assertEqual((one.requests, one.errors), (200, 2))
        self.assertAlmostEqual(one.throughput, 198 / 50)
        self.assertEqual((one.peak_pods, one.first_pod_s), (3, 52 - 20))
        self.assertEqual((one.pod_seconds, one.pod_seconds_all), (50 + 50 + 35, 60 + 60 + 40))
        self.assertAlmostEqual(one.above_target, 5 / 25)
        self.assertAlmostEqual(one.starved, 0.25)

    def test_no_overload_no_pod(self):
        workload = Workload("x", "X", "block", ((10, 1), (20, 9)), "A", 30)
        record = Record(scenarios.ALL["A"], ())
        record.sizes = [FleetSize(0, 2, 2, 2)]
        record.decisions = [(record.sizes[0], Decision(2, None, "held"))]
        self.assertIn("| – |", report.table(Result(workload, [record], 0.0, 0.0)))


class Scenarios(unittest.TestCase):
    def test_queries_are_pointed_at_the_lane(self):
        for scenario in scenarios.ALL.values():
            for trigger in scenario.scaling().triggers:
                with self.subTest(scenario=scenario.key, trigger=trigger.name):
                    self.assertNotIn("shop", trigger.query)
                    self.assertNotIn("nodejs-app", trigger.query)
                    self.assertIn(scenario.namespace, trigger.query or scenario.namespace)

    def test_all_of_the_same_size(self):
        """What differs is the signal."""
        sizes = {(each.scaling().minimum, each.scaling().maximum) for each in scenarios.ALL.values()}
        self.assertEqual(sizes, {(2, 20)})

    def test_length(self):
        """One command, under twenty minutes; the quick form under four."""
        for plan, minutes in ((workloads.FULL, 20), (workloads.QUICK, 4)):
            runs = [(each, 1 if each.together else len(each.scenarios)) for each in plan]
            overhead_s = 40 * sum(times for _, times in runs)
            length_s = sum(each.length_s * times for each, times in runs)
            self.assertLess(length_s + overhead_s, minutes * 60)


def main() -> None:
    name = os.path.basename(sys.argv[0])
    if prometheus.missing():
        print(f"SKIPPED: {name}: no Prometheus: scripts/fetch-prometheus")
        sys.exit(tier.SKIPPED)
    if tools.missing():
        print(f"SKIPPED: {name}: no HAProxy: scripts/support/benchmark/fetch")
        sys.exit(tier.SKIPPED)
    tier.main((NODE,))


if __name__ == "__main__":
    main()
