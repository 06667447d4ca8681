# SPDX-License-Identifier: Apache-2.0
"""The load: runs tests/programs/virtual_users.js, and reads what it has seen."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from support.nodes import ENVIRONMENT, node

from .pod import NODE
from .workloads import THINK_S, TIMEOUT_S, Workload

OK = 200


@dataclass(frozen=True)
class Request:
    at_s: float  # since the load began
    latency_s: float
    ok: bool


class Users:
    """Started at once."""

    def __init__(self, workload: Workload, port: int, seed: int, log: Path):
        self._log = log
        plan = {
            "port": port, "seed": seed, "stages": workload.stages,
            "thinkMs": [each * 1e3 for each in THINK_S], "timeoutMs": TIMEOUT_S * 1e3,
        }  # fmt: skip
        with log.open("w") as output:
            self._process = subprocess.Popen(
                [
                    "setpriv", "--pdeathsig", "KILL",
                    *node(NODE).command("virtual_users.js", json.dumps(plan)),
                ],
                stdin=subprocess.DEVNULL, stdout=output, env=ENVIRONMENT,
            )  # fmt: skip

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def fault(self) -> str | None:
        code = self._process.poll()
        return f"the users ended with {code}" if code else None

    def requests(self, begin_epoch_s: float) -> list[Request]:
        """Those that are over. The last line may be half written."""
        lines = self._log.read_text().split("\n")[:-1]
        return [_request(line, begin_epoch_s) for line in lines]


def _request(line: str, begin_epoch_s: float) -> Request:
    started_ms, latency_ms, status = line.split()
    at_s = int(started_ms) / 1e3 - begin_epoch_s
    return Request(at_s, float(latency_ms) / 1e3, int(status) == OK)
