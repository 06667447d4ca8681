# SPDX-License-Identifier: Apache-2.0
"""What the users do, and what a request costs."""

from dataclasses import dataclass

THINK_S = (1.0, 3.0)
TIMEOUT_S = 5.0
FEW, MANY = 4, 200
WARM_UP_S = 15


@dataclass(frozen=True)
class Workload:
    """`stages`: (seconds, users), k6's ramping-vus. The first is the warm-up; up to `busy_s` reaches what
    the figures speak of; the rest shows how the fleet shrinks. `together`: all scenarios at once,
    because they leave the CPUs idle."""

    name: str
    title: str
    work: str  # see tests/programs/article_app.js
    stages: tuple[tuple[float, int], ...]
    scenarios: str
    busy_s: float
    together: bool = True

    @property
    def warm_up_s(self) -> float:
        return self.stages[0][0]

    @property
    def length_s(self) -> float:
        return sum(seconds for seconds, _ in self.stages)


def _spike(hold_s: float, tail_s: float) -> tuple[tuple[float, int], ...]:
    return ((WARM_UP_S, FEW), (30, MANY), (hold_s, MANY), (10, FEW), (tail_s, FEW))


def _workload(name: str, title: str, work: str, stages, scenarios: str, **more) -> Workload:
    busy_s = sum(seconds for seconds, _ in stages[:4])
    return Workload(name, title, work, stages, scenarios, busy_s, **more)


SPIKE = "Spike, work that blocks"
RAMP = "Steady ramp, work that blocks"
CPU = "Spike, work on the CPU"

FULL = (
    _workload("blocked-spike", SPIKE, "block", _spike(120, 345), "APBCDE"),
    _workload("blocked-ramp", RAMP, "block", ((WARM_UP_S, FEW), (240, MANY), (30, MANY)), "APBCDE"),
    _workload("cpu-spike", CPU, "compute", _spike(50, 1), "AD", together=False),
)
QUICK = (_workload("blocked-spike", SPIKE, "block", _spike(120, 5), "APBCDE"),)
