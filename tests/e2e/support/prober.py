# SPDX-License-Identifier: Apache-2.0
"""Real clients: runs tests/programs/prober.js against an application."""

import json
import subprocess

from .nodes import ENVIRONMENT, Node

PRIORITY = 25  # above the applications: what is measured is their loop, not the client's
PER_SECOND = 150


class Prober:
    """Warm once constructed; `start` sends for so many seconds, `latencies` waits for the end."""

    def __init__(self, node: Node, port: int, seconds: int):
        command = node.command("prober.js", str(port), str(seconds), str(PER_SECOND))
        self.process = subprocess.Popen(
            ["chrt", "-f", str(PRIORITY), *command],
            env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.process.stdout.readline()

    def __enter__(self) -> "Prober":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def start(self) -> None:
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def latencies(self) -> dict[str, float]:
        """Percentiles p50, p75, p90, p95, p99 in seconds."""
        report = json.loads(self.process.stdout.readline())
        if report["starved"] > 0:
            raise AssertionError(f"{report['starved']} requests found no free connection")
        return {name: value / 1e3 for name, value in report.items() if name.startswith("p")}
