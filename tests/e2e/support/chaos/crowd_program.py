# SPDX-License-Identifier: Apache-2.0
"""Runs crowd.py."""

import json
import os
import subprocess
import sys
from pathlib import Path

from ..nodes import REPOSITORY
from .settings import Settings

ENDS_WITHIN_S = 30.0


class CrowdProgram:
    """Use with `with`; `end` tells what happened."""

    def __init__(self, settings: Settings, log: Path):
        command = [
            "chrt", "--other", "0", sys.executable, "-B", "-m", "support.chaos.crowd",
            "--seed", str(settings.seed), "--rate", str(settings.rate), "--log", str(log),
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, cwd=REPOSITORY / "tests" / "e2e", env=os.environ,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __enter__(self) -> "CrowdProgram":
        if not self.process.stdout.readline():
            raise AssertionError(f"the crowd ended with {self.process.wait()}")
        return self

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.end()

    def end(self) -> tuple[dict[str, int], float]:
        """How often what happened, and in how many seconds."""
        output, _ = self.process.communicate(timeout=ENDS_WITHIN_S)
        if self.process.returncode:
            raise AssertionError(f"the crowd ended with {self.process.returncode}")
        said = json.loads(output)
        return said["counts"], said["seconds"]
