# SPDX-License-Identifier: Apache-2.0
"""Runs tests/programs/storm.js: a loop that turns as fast as it can, or hardly at all."""

import json
import subprocess
from dataclasses import dataclass

from .metrics import LoopTimes
from .nodes import ENVIRONMENT, Node


@dataclass(frozen=True)
class Account:
    """What the application knows of itself at one moment."""

    turns: int
    times: LoopTimes
    at_s: float

    def turns_per_second_since(self, earlier: "Account") -> float:
        return (self.turns - earlier.turns) / (self.at_s - earlier.at_s)

    def utilization_since(self, earlier: "Account") -> float:
        return (self.times - earlier.times).utilization


class StormApp:
    """Use with `with`: it is ended at the end. Calm at first."""

    def __init__(self, node: Node):
        self.process = subprocess.Popen(
            node.command("storm.js"),
            env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __enter__(self) -> "StormApp":
        self.tell()
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    @property
    def pid(self) -> int:
        return self.process.pid

    def storm(self) -> Account:
        return self._ask("storm")

    def calm(self) -> Account:
        return self._ask("calm")

    def tell(self) -> Account:
        return self._ask("tell")

    def _ask(self, line: str) -> Account:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        said = json.loads(self.process.stdout.readline())
        times = LoopTimes(said["active_ms"] / 1e3, said["idle_ms"] / 1e3)
        return Account(said["turns"], times, said["at_ms"] / 1e3)
