#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon stays small: twenty loops under load, below 0.5 % of a CPU and 30 MB."""

import time
import unittest
from contextlib import ExitStack

from support import tier
from support.apps import App
from support.nodes import node
from support.uvtap import Uvtap

NODE = "22"
LOOPS = 20
SETTLE_S = 3.0
SPAN_S = 15.0
SCRAPE_APART_S = 5.0
MAX_CPU_SHARE = 0.005
MAX_RESIDENT_BYTES = 30e6


class Small(unittest.TestCase):
    def test_twenty_loops(self):
        with ExitStack() as running:
            apps = [running.enter_context(App(node(NODE), "timers")) for _ in range(LOOPS)]
            uvtap = running.enter_context(Uvtap())
            uvtap.await_observed(*(app.pid for app in apps))
            uvtap.pause(SETTLE_S)
            turns, share = self.measure(uvtap)
            resident = uvtap.resident_bytes()
        print(
            f"{LOOPS} loops, {turns:.0f} turns/s: {share:.2%} of a CPU, "
            f"{resident / 1e6:.1f} MB resident"
        )
        self.assertLess(share, MAX_CPU_SHARE)
        self.assertLess(resident, MAX_RESIDENT_BYTES)

    def measure(self, uvtap: Uvtap) -> tuple[float, float]:
        """Turns per second of all loops, and the daemon's share of a CPU, while it is scraped as
        Prometheus would."""
        begin, cpu = time.monotonic(), uvtap.cpu_seconds()
        turns = uvtap.scrape().total("nodejs_eventloop_turns_total")
        while (spent := time.monotonic() - begin) < SPAN_S:
            uvtap.pause(min(SCRAPE_APART_S, SPAN_S - spent))
            said = uvtap.scrape()
        spent = time.monotonic() - begin
        return (
            (said.total("nodejs_eventloop_turns_total") - turns) / spent,
            (uvtap.cpu_seconds() - cpu) / spent,
        )


if __name__ == "__main__":
    tier.main((NODE,))
