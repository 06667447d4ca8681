# SPDX-License-Identifier: Apache-2.0
"""What observation may cost, and whether it does."""

from dataclasses import dataclass
from enum import Enum

from .comparison import Figure, Spread, figures, spread
from .plan import AUTO, EXPORTER, PEER
from .run import Measured

# How much more CPU time a request may take with `auto`, as measured by the median.
LIMITS = {"hello-16": 0.005, "hello-1": 0.02}
# The worst case: `auto` must only be cheaper than the others.
UNLIMITED = ("immediates",)


class Verdict(Enum):
    PASS = "PASS"
    MISSED = "MISSED"
    NOT_DISTINGUISHABLE = "NOT DISTINGUISHABLE"


@dataclass(frozen=True)
class Judged:
    verdict: Verdict
    what: str
    figure: Spread

    def line(self) -> str:
        return f"{self.verdict.value:<20} {self.what}: {percent(self.figure)}"


def percent(figure: Spread) -> str:
    """+0.31 % (-0.10 … +0.62)"""
    median, low, high = (f"{100 * each:+.2f}" for each in (figure.median, figure.low, figure.high))
    return f"{median} % ({low} … {high})"


def judge(measured: list[Measured]) -> list[Judged]:
    return [verdict for each in measured for verdict in _judge_cell(each)]


def _judge_cell(measured: Measured) -> list[Judged]:
    if AUTO.name not in measured.pairs:
        return []
    workload, node = measured.cell.workload, measured.cell.node
    where = f"{workload.name}, Node.js {node}"
    cost = figures(measured, AUTO.name)[0]
    verdicts = []
    if workload.name in LIMITS:
        verdicts.append(_within(cost, LIMITS[workload.name], where))
    elif workload.name not in UNLIMITED:
        verdicts.append(_unnoticed(cost, where))
    for other in (EXPORTER, PEER):
        if other.name in measured.pairs:
            verdicts.append(_cheaper(cost, figures(measured, other.name)[0], other.name, where))
    return verdicts


def _within(cost: Figure, limit: float, where: str) -> Judged:
    """By the median, unless the measurement cannot tell nothing from too much."""
    verdict = Verdict.PASS if cost.extra.median <= limit else Verdict.MISSED
    if cost.extra.has(0) and cost.extra.has(limit):
        verdict = Verdict.NOT_DISTINGUISHABLE
    return Judged(verdict, f"{where}: CPU of auto within {100 * limit:g} %", cost.extra)


def _unnoticed(cost: Figure, where: str) -> Judged:
    """Cheaper than unobserved can only be luck."""
    verdict = Verdict.MISSED if cost.extra.low > 0 else Verdict.NOT_DISTINGUISHABLE
    return Judged(verdict, f"{where}: CPU of auto not distinguishable", cost.extra)


def _cheaper(cost: Figure, other: Figure, name: str, where: str) -> Judged:
    """Round by round."""
    gap = spread([mine - its for mine, its in zip(cost.values, other.values)])
    verdict = Verdict.NOT_DISTINGUISHABLE
    if gap.high < 0:
        verdict = Verdict.PASS
    elif gap.low > 0:
        verdict = Verdict.MISSED
    return Judged(verdict, f"{where}: auto cheaper than {name}", gap)
