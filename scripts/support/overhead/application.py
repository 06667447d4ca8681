# SPDX-License-Identifier: Apache-2.0
"""The application that is measured, with its clients."""

import json
import signal
import subprocess
import time
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmark import tools
from support.nodes import ENVIRONMENT

from .machine import Machine
from .plan import Workload

_APP = Path(__file__).parent / "app.js"
_CPUCLOCK_SCHED = 2  # linux/posix-timers.h: sum_exec_runtime


@dataclass(frozen=True)
class Slice:
    """What was done in a stretch of time. Latencies are 0 where there are no clients."""

    units: float
    seconds: float
    cpu_s: float
    p50_s: float = 0.0
    p99_s: float = 0.0

    @property
    def cpu_per_unit_s(self) -> float:
        return self.cpu_s / self.units

    @property
    def units_per_s(self) -> float:
        return self.units / self.seconds


class _Answering:
    """A process that answers each line with one of JSON, and ends with this one."""

    def __init__(self, command: list[str], what: str, environment: dict[str, str]):
        self._what = what
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *command], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def ask(self, line: str = "") -> dict:
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._what} has ended")
        return json.loads(line)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Application:
    """Use with `with`. Runs at once, until it is paused."""

    def __init__(self, machine: Machine, node: Path, workload: Workload, exporter: bool = False):
        self.workload = workload
        what = f"the application {workload.name}"
        environment = ENVIRONMENT | {"NODE_PATH": str(tools.modules())}
        pin = ["taskset", "-c", str(machine.application_cpu)]
        own = [str(node), str(_APP), workload.name, *(["exporter"] if exporter else [])]
        with ExitStack() as running:
            self._server = _Answering(pin + own, what, environment)
            running.callback(self._server.stop)
            hello = self._server.answer()
            self._metrics_port = hello["metrics_port"]
            self._clients = None
            if load := workload.clients:
                command = [
                    str(machine.clients), load.protocol, str(hello["port"]), str(load.connections)
                ]  # fmt: skip
                self._clients = _Answering(command, f"the clients of {workload.name}", ENVIRONMENT)
                running.callback(self._clients.stop)
            self._running = running.pop_all()

    def __enter__(self) -> "Application":
        return self

    def __exit__(self, *_) -> None:
        self._running.close()

    @property
    def pid(self) -> int:
        return self._server.process.pid

    def pause(self) -> None:
        """Stopped: it uses no CPU, and its clients wait."""
        self._server.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._server.process.send_signal(signal.SIGCONT)

    def scrape(self) -> None:
        """Its own exporter, as Prometheus does."""
        for path in ("/metrics", "/metrics/default"):
            url = f"http://127.0.0.1:{self._metrics_port}{path}"
            with urllib.request.urlopen(url, timeout=10) as response:
                response.read()

    def load(self) -> None:
        """Its clients press it as they do in a slice, until the end of the next one."""
        if self._clients:
            self._clients.ask("busy")

    def measure(self, seconds: float) -> Slice:
        """Lets it run so long. What its clients did before does not count."""
        self.load()
        before = self._mark()
        time.sleep(seconds)
        after = self._mark()
        units, cpu_s, taken_s = (now - then for now, then in zip(after, before))
        latency = self._clients.ask() if self._clients else {"p50_ns": 0, "p99_ns": 0}
        return Slice(units, taken_s, cpu_s, latency["p50_ns"] / 1e9, latency["p99_ns"] / 1e9)

    def _mark(self) -> tuple[float, float, float]:
        """Units done, CPU time used, and when. An idle application is not woken for that."""
        if self.workload.is_idle:
            now = time.monotonic()
            return now, time.clock_gettime(_cpu_clock(self.pid)), now
        answer = self._server.ask()
        return answer["units"], answer["cpu_us"] / 1e6, answer["at_ns"] / 1e9


def _cpu_clock(pid: int) -> int:
    """The clock of all CPU time of a process, as clock_getcpuclockid(3) makes it."""
    return ~pid << 3 | _CPUCLOCK_SCHED
