#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/daemon-cost measures, judges and writes. Its targets are not judged here: that takes a
quiet machine and seven minutes."""

import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml
from dataclasses import replace
from pathlib import Path

from support import tier
from support.nodes import REPOSITORY
from support.uvtap import Uvtap

sys.path.append(str(REPOSITORY / "scripts" / "support"))
from daemon_cost import fleet, report, targets  # noqa: E402
from daemon_cost.measure import NAMES, Figures  # noqa: E402

SCRIPT = REPOSITORY / "scripts" / "daemon-cost"
COUNT = 5
# What no figure of so few processes exceeds, on a busy machine either.
SANE = {
    "cpu_percent": 5, "cpu_scraped_percent": 5, "cpu_ms_per_scrape": 20, "resident_mb": 50,
    "peak_mb": 50, "scrape_p99_ms": 1000, "exposition_kb": 200, "attach_max_s": 10,
    "first_sample_max_s": 15,
}  # fmt: skip
# Meets every target; what grows does so in proportion.
GOOD = Figures(250, 0.5, 20, 0.6, 5, 40, 45, 10, 15, 4000, 0.2, 0.3, 1.3, 1.4)


def row(count: int, **other: float) -> Figures:
    share = count / GOOD.processes
    grown = {name: getattr(GOOD, name) * share for name in targets.GROWING}
    return replace(GOOD, processes=count, **(grown | other))


class Run(unittest.TestCase):
    """Five processes, in short form."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.docs = Path(folder.name)
        shutil.copy(REPOSITORY / "docs" / report.PAGE, cls.docs)
        command = [SCRIPT, "--short", "--counts", str(COUNT), "--write", cls.docs]
        cls.run_ = subprocess.run(command, capture_output=True, text=True, timeout=120)
        print(cls.run_.stdout, cls.run_.stderr)

    def test_figures_are_sane(self):
        self.assertEqual(self.run_.returncode, 0)
        names, values = (self.docs / "overhead" / "daemon.tsv").read_text().splitlines()
        figures = dict(zip(names.split("\t"), map(float, values.split("\t"))))
        self.assertEqual(tuple(figures), NAMES)
        self.assertEqual(figures["processes"], COUNT)
        for name, value in figures.items():
            with self.subTest(figure=name):
                self.assertGreater(value, 0)
                self.assertLess(value, SANE.get(name, float("inf")))
        self.assertGreater(figures["first_sample_max_s"], 1, "a full second has passed")
        self.assertGreater(figures["first_sample_max_s"], figures["attach_max_s"])

    def test_the_page_has_the_table_and_keeps_its_text(self):
        before = (REPOSITORY / "docs" / report.PAGE).read_text()
        after = (self.docs / report.PAGE).read_text()
        self.assertIn(f"\n| {COUNT} | ", after)
        self.assertEqual(_around(after), _around(before))

    def test_the_picture_is_one(self):
        picture = xml.parse(self.docs / "overhead" / "daemon.svg").getroot()
        self.assertTrue(picture.tag.endswith("svg"))

    def test_nothing_is_left(self):
        left = subprocess.run(["pgrep", "-f", "fleet[.]js"], capture_output=True, text=True).stdout
        self.assertEqual(left, "")


class FirstFigures(unittest.TestCase):
    """Ticks come at whole seconds; the first figures of a new loop do not wait for them."""

    def test_they_come_with_the_first_full_second(self):
        with Uvtap() as uvtap:
            uvtap.pause((0.1 - time.monotonic()) % 1)
            app = fleet.start("idle")
            self.addCleanup(fleet.end, app)
            said = uvtap.await_that(
                lambda now: now.find("nodejs_eventloop_utilization", app.pid), "has a utilization"
            )
        observed_s = said.times(app.pid).observed
        print(f"first figures of {observed_s:.2f} s")
        self.assertGreaterEqual(observed_s, 0.99)
        self.assertLess(observed_s, 1.45)


class Judging(unittest.TestCase):
    def judge(self, **last: float) -> dict[str, bool]:
        rows = [row(10), row(50), row(100), row(250, **last)]
        return {verdict.text: verdict.passed for verdict in targets.judge(rows)}

    def test_all_is_well(self):
        verdicts = self.judge()
        self.assertEqual(len(verdicts), len(targets.TARGETS) + len(targets.GROWING))
        self.assertTrue(all(verdicts.values()), verdicts)

    def test_each_target_can_be_missed(self):
        for target in targets.TARGETS:
            with self.subTest(target=target.name):
                verdicts = self.judge(**{target.name: target.limit})
                missed = [text for text, ok in verdicts.items() if not ok]
                self.assertTrue(any(target.title in text for text in missed), missed)

    def test_growth_beyond_the_line_is_missed(self):
        for name, title in targets.GROWING.items():
            with self.subTest(figure=name):
                verdicts = self.judge(**{name: getattr(GOOD, name) * 1.3})
                missed = [text for text, ok in verdicts.items() if not ok]
                self.assertTrue(any(f"growth of {title}" in text for text in missed), missed)

    def test_noise_is_no_growth(self):
        rows = [row(10, cpu_scraped_percent=9), row(50), row(100), row(250)]
        missed = [verdict.text for verdict in targets.judge(rows) if not verdict.passed]
        self.assertEqual(len(missed), 1, missed)

    def test_what_was_not_measured_is_not_judged(self):
        self.assertEqual(targets.judge([row(10), row(50)]), [])


def _around(page: str) -> tuple[str, str]:
    """The page without what is written into it."""
    return page.partition(report.BEGIN)[0], page.partition(report.END)[2]


if __name__ == "__main__":
    tier.main((fleet.NODE,))
