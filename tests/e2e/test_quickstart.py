#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does what docs/quickstart.md says, command by command, and sees what it shows.

The commands run as they stand there, in a folder that looks like the repository, where uvtap is built
already; and in a network of their own, so that the ports of the page are free.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import prometheus, tier
from support.nodes import ENVIRONMENT, REPOSITORY, node
from support.uvtap import binary

NODE = "22"
PAGE = REPOSITORY / "docs" / "quickstart.md"
WITHIN_S = 100
BLOCK = re.compile(r"^```(?P<kind>sh|text)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]\d+)?")
QUERY = 'sum(nodejs_eventloop_utilization{namespace="shop",workload="checkout",container="app"})'
# Ends whatever the page has started, also when a command of it fails.
PRELUDE = "set -e -o pipefail\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n"


def blocks(kind: str) -> list[str]:
    return [found["text"] for found in BLOCK.finditer(PAGE.read_text()) if found["kind"] == kind]


def like_the_repository(folder: Path) -> None:
    """All that the page uses, but for the build: that is what is being tested already."""
    for name in ("daemonset", "tests"):
        (folder / name).symlink_to(REPOSITORY / name)
    (folder / "scripts").mkdir()
    for each in (REPOSITORY / "scripts").iterdir():
        if each.name != "build":
            (folder / "scripts" / each.name).symlink_to(each)
    (folder / "scripts" / "build").symlink_to(shutil.which("true"))
    (folder / "build" / "release").mkdir(parents=True)
    (folder / "build" / "release" / "uvtap").symlink_to(binary().resolve())
    (folder / "build" / "prometheus").symlink_to(prometheus.programs_dir())


def run(script: str, folder: Path) -> subprocess.CompletedProcess:
    path = f"{node(NODE).binary.parent}:{Path(sys.executable).parent}:{ENVIRONMENT['PATH']}"
    # At the end of its time, or of ours, nothing of it goes on.
    bounded = ["setpriv", "--pdeathsig", "TERM", "timeout", str(WITHIN_S)]
    command = ["unshare", "--net", *bounded, "bash", "-c", "ip link set lo up\n" + PRELUDE + script]
    return subprocess.run(
        command, cwd=folder, env={"PATH": path}, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def shape(text: str) -> list[str]:
    """Its lines, with N for every number."""
    return [" ".join(NUMBER.sub("N", line).split()) for line in text.splitlines()]


class Quickstart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        like_the_repository(folder)
        cls.done = run("".join(blocks("sh")), folder)
        print(cls.done.stdout, flush=True)

    def test_every_command_succeeds(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout)

    def test_it_prints_what_the_page_shows(self):
        """But for the numbers, of which only those of pods are certain."""
        printed = shape(self.done.stdout)
        for text in blocks("text"):
            shown = shape(text)
            starts = [index for index, line in enumerate(printed) if line == shown[0]]
            found = [printed[index : index + len(shown)] for index in starts]
            self.assertIn(shown, found)

    def test_it_decides_what_the_page_shows(self):
        def decisions(text: str) -> list[str]:
            return [line for line in text.splitlines() if line.startswith("pods:")]

        self.assertEqual(decisions(self.done.stdout), decisions("".join(blocks("text"))))

    def test_the_scaled_object_is_as_the_page_says(self):
        """What the page quotes and what its commands replace is there."""
        self.assertIn(QUERY, PAGE.read_text())
        text = (REPOSITORY / "daemonset" / "keda" / "recommended.yaml").read_text()
        for quoted in (QUERY, *re.findall(r"-e 's\|(.*?)\|", PAGE.read_text())):
            if "demo-" not in quoted:
                self.assertIn(quoted, text)


if __name__ == "__main__":
    if prometheus.missing():
        print("SKIPPED: test_quickstart.py: no Prometheus: scripts/fetch-prometheus")
        sys.exit(tier.SKIPPED)
    tier.main((NODE,))
