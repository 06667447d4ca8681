#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The short form of scripts/soak: a crowd of processes, faults on all sides, and nothing shows."""

import os
import unittest

from support import tier
from support.chaos import settings
from support.chaos.run import BUILDS, Run
from support.compare.measure import OWN_PRIORITY

SEED = int(os.environ.get("UVTAP_CHAOS_SEED", "1"))


class Chaos(unittest.TestCase):
    def test_nothing_shows(self):
        report = Run(settings.short(SEED)).report()
        print(report.markdown())
        self.assertEqual(report.troubles, [])


if __name__ == "__main__":
    tier.main(BUILDS, OWN_PRIORITY)
