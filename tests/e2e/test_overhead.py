#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/overhead: its short form runs, and what it makes of figures is right."""

import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

from support import tier
from support.nodes import REPOSITORY

sys.path.append(str(REPOSITORY / "scripts" / "support"))

from benchmark import tools  # noqa: E402
from overhead import comparison, machine, plan, report, targets  # noqa: E402
from overhead.application import Slice  # noqa: E402
from overhead.run import Measured, Pace, Pair  # noqa: E402
from overhead.targets import Verdict  # noqa: E402

SHORT_WITHIN_S = 120
UNOBSERVED = Slice(units=1000, seconds=1, cpu_s=0.5, p50_s=0.001, p99_s=0.002)


def measured(pattern: str, **costs: list[float]) -> Measured:
    """A cell in which each variant's slices took so much more CPU time than the ones beside them."""
    [cell] = plan.cells([pattern])
    result = Measured(cell)
    for name, extra in costs.items():
        slices = [replace(UNOBSERVED, cpu_s=0.5 * (1 + each)) for each in extra]
        result.pairs[name] = [Pair(each, UNOBSERVED, UNOBSERVED) for each in slices]
        result.doors[name] = {"io_poll"}
    return result


def around(middle: float, width: float = 0.001) -> list[float]:
    return [middle + width * (each - 7) / 7 for each in range(15)]


def verdicts(*cells: Measured) -> list[Verdict]:
    return [each.verdict for each in targets.judge(list(cells))]


class Short(unittest.TestCase):
    """The command itself."""

    def test_short_form(self):
        command = [sys.executable, "-B", str(REPOSITORY / "scripts" / "overhead"), "--short"]
        ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=SHORT_WITHIN_S)
        print(ran.stdout)
        self.assertEqual(ran.returncode, 0)
        rows = {line.split()[0]: line for line in ran.stdout.splitlines() if line.startswith("  ")}
        self.assertEqual(set(rows), {"auto", "memory", "exporter", "peer"})
        self.assertIn("through io_poll", rows["auto"])
        self.assertIn("through memory", rows["memory"])
        self.assertIn("p99", rows["peer"])


class Figures(unittest.TestCase):
    """Of pairs that are made up."""

    def test_interval_of_a_median(self):
        spread = comparison.spread([float(each) for each in range(15)])
        self.assertEqual((spread.low, spread.median, spread.high), (2, 7, 12))
        self.assertEqual(comparison.spread([3.0, 1.0]), comparison.Spread(2, 1, 3))

    def test_compared_with_both_neighbours(self):
        before, after = replace(UNOBSERVED, cpu_s=0.4), replace(UNOBSERVED, cpu_s=0.6)
        cell = measured("hello-1/22/auto", auto=[0.1])
        cell.pairs["auto"] = [Pair(UNOBSERVED, before, after)]
        self.assertAlmostEqual(comparison.figures(cell, "auto")[0].extra.median, 0)

    def test_figures(self):
        cell = measured("hello-1/22/auto", auto=around(0.1))
        names = [each.name for each in comparison.figures(cell, "auto")]
        self.assertEqual(names, ["cpu", "throughput", "p50", "p99"])
        cpu = comparison.figures(cell, "auto")[0]
        self.assertAlmostEqual(cpu.unobserved, 0.0005)
        self.assertAlmostEqual(cpu.extra.median, 0.1)

    def test_idle_is_a_share_of_a_cpu(self):
        cell = measured("idle/22/auto", auto=[0.0])
        quiet, woken = Slice(2, 2, 0.0), Slice(2, 2, 0.0002)
        cell.pairs["auto"] = [Pair(woken, quiet, quiet)]
        [cpu] = comparison.figures(cell, "auto")
        self.assertAlmostEqual(cpu.extra.median, 0.0001)


class Targets(unittest.TestCase):
    def test_within(self):
        for extra, verdict in ((0.003, Verdict.PASS), (0.007, Verdict.MISSED)):
            with self.subTest(extra=extra):
                cell = measured("hello-16/22/auto", auto=around(extra))
                self.assertEqual(verdicts(cell), [verdict])

    def test_too_noisy(self):
        cell = measured("hello-16/22/auto", auto=around(0.003, 0.05))
        self.assertEqual(verdicts(cell), [Verdict.NOT_DISTINGUISHABLE])

    def test_not_distinguishable(self):
        for extra, verdict in ((0.0, Verdict.NOT_DISTINGUISHABLE), (0.002, Verdict.MISSED)):
            with self.subTest(extra=extra):
                self.assertEqual(verdicts(measured("timers/22/auto", auto=around(extra))), [verdict])

    def test_cheaper(self):
        others = {"exporter": around(0.2), "peer": around(2)}
        storm = measured("immediates/22/auto", auto=around(1.0), **others)
        self.assertEqual(verdicts(storm), [Verdict.MISSED, Verdict.PASS])


class Report(unittest.TestCase):
    def test_written(self):
        """Every figure is in the table for programs, and the text around the results stays."""
        cells = [
            measured("hello-16/22", auto=around(0.001, 0.01), peer=around(1.5)),
            measured("idle/26/auto", auto=around(0)),
        ]
        about = report.Circumstances("scripts/overhead", 1, Pace(15, 0.4), ["uvtap/1"])
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "overhead.md")
            page.write_text(f"above\n{report.BEGIN}\nstale figures\n{report.END}\nbelow\n")
            for _ in range(2):
                report.write(Path(folder), cells, targets.judge(cells), about)
            text = page.read_text()
            table = Path(folder, "overhead", "results.tsv").read_text()
            dots = ET.parse(Path(folder, "overhead", "cpu.svg")).findall(".//{*}circle")
        self.assertTrue(text.startswith("above\n") and text.endswith("\nbelow\n"), text)
        self.assertNotIn("stale", text)
        self.assertEqual(text.count(report.BEGIN), 1)
        self.assertIn("| HTTP hello world, 16 connections | 500 µs/request | +0.10 % ", text)
        self.assertIn("**+150.00 % ", text)
        self.assertIn("Not alone: uvtap/1", text)
        self.assertEqual(len(table.splitlines()), 1 + 4 + 4 + 1)
        self.assertEqual(len(dots), 3 + len(plan.VARIANTS))


class Plan(unittest.TestCase):
    def test_all(self):
        self.assertEqual(len(plan.cells([])), 2 * len(plan.WORKLOADS))

    def test_patterns(self):
        [cell] = plan.cells(["hello-1/22/a*", "hello-1/22/peer"])
        self.assertEqual([each.name for each in cell.variants], ["auto", "peer"])
        self.assertEqual(len(plan.cells(["*/26"])), len(plan.WORKLOADS))
        self.assertEqual(plan.cells(["nothing"]), [])


def main() -> None:
    if reason := machine.obstacle():
        print(f"SKIPPED: test_overhead.py: {reason}")
        sys.exit(tier.SKIPPED)
    if tools.missing():
        print("SKIPPED: test_overhead.py: no prom-client: scripts/support/benchmark/fetch")
        sys.exit(tier.SKIPPED)
    tier.main()


if __name__ == "__main__":
    main()
