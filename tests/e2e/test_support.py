#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests' own tools: are they right?"""

import random
import unittest

from support.compare.bounds import Bound
from support.compare.matrix import HEAVY, batches, full
from support.metrics import Exposition
from support.truth import clip, wait_percentile

TEXT = """
# HELP nodejs_eventloop_loops a "comment" {process="x/7"}
nodejs_eventloop_loops{namespace="",process="app.js/7"} 1
nodejs_eventloop_loops{namespace="",process="a \\"quoted\\" name/17"} 2
nodejs_eventloop_time_seconds_total{process="app.js/7",nodejs_eventloop_state="active"} 1.5
nodejs_eventloop_time_seconds_total{process="app.js/7",nodejs_eventloop_state="idle"} 4.5e0
uvtap_attached_binaries 3
"""


class Waits(unittest.TestCase):
    def test_one_stretch_in_ten_seconds(self):
        """Of the arrivals, 10 % come in the stretch and wait between 0 and 1 s."""
        self.assertEqual(wait_percentile([1.0], 10.0, 50), 0)
        self.assertAlmostEqual(wait_percentile([1.0], 10.0, 95), 0.5)
        self.assertAlmostEqual(wait_percentile([1.0], 10.0, 99), 0.9)

    def test_against_arrivals_at_random_moments(self):
        draw = random.Random(1)
        lengths = [draw.uniform(0.001, 0.1) for _ in range(50)]
        window = 2 * sum(lengths)
        waits = sorted(self.wait(draw.uniform(0, window), lengths) for _ in range(200000))
        for percent in (60, 75, 90, 99):
            expected = waits[len(waits) * percent // 100]
            self.assertAlmostEqual(wait_percentile(lengths, window, percent), expected, delta=0.002)

    @staticmethod
    def wait(moment: float, lengths: list[float]) -> float:
        """The stretches stand one after the other; then the loop idles."""
        for length in lengths:
            if moment < length:
                return length - moment
            moment -= length
        return 0.0

    def test_nothing_is_busy(self):
        self.assertEqual(wait_percentile([], 10.0, 99), 0)

    def test_clip(self):
        self.assertEqual(clip([(0, 2), (3, 4), (9, 12), (20, 21)], 1, 10), [1, 1, 1])


class Expositions(unittest.TestCase):
    def test_values(self):
        exposition = Exposition(TEXT)
        self.assertEqual(exposition.observed_pids(), {7, 17})
        self.assertEqual(exposition.value("nodejs_eventloop_loops", 17), 2)
        self.assertEqual(exposition.times(7).utilization, 0.25)
        self.assertEqual(exposition.total("uvtap_attached_binaries"), 3)

    def test_a_value_that_is_missing(self):
        with self.assertRaises(KeyError):
            Exposition(TEXT).value("nodejs_eventloop_loops", 8)


class Comparison(unittest.TestCase):
    def test_the_larger_of_two_bounds_counts(self):
        bound = Bound(0.002, 0.03)
        self.assertTrue(bound.allows(0.0219, 0.020))
        self.assertFalse(bound.allows(0.0221, 0.020))
        self.assertTrue(bound.allows(1.029, 1.0))
        self.assertFalse(bound.allows(float("nan"), 1.0))

    def test_each_case_is_in_one_batch_and_heavy_ones_are_apart(self):
        cases = full()
        for jobs in (1, 2, 3):
            planned = batches(cases, jobs)
            self.assertCountEqual([case for batch in planned for case in batch], cases)
            for batch in planned:
                self.assertLessEqual(sum(case.load in HEAVY for case in batch), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
