# SPDX-License-Identifier: Apache-2.0
"""From pairs of slices to figures with their spread."""

import statistics
from dataclasses import dataclass
from math import comb
from typing import Callable

from .application import Slice
from .run import Measured, Pair

# Of an interval. A full run has some hundred of them: at 95 % several would miss 0 by chance.
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Spread:
    """A median, and the interval that holds the true one with CONFIDENCE (whole range if there are
    too few values for that)."""

    median: float
    low: float
    high: float

    def has(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Figure:
    """One figure of a workload under a variant. `extra`: how much more it is than unobserved, as a
    share of that (0.01: by 1 %); for the CPU time of an idle application as a share of a CPU."""

    name: str
    unit: str
    unobserved: float
    observed: float
    extra: Spread
    values: list[float]  # `extra` of each pair, in the order of the rounds


def spread(values: list[float]) -> Spread:
    """By order statistics: that k of n values lie below the median is a matter of tossing coins."""
    ordered, count = sorted(values), len(values)
    outside = 0
    while outside + 1 < count / 2 and _both_tails(outside + 1, count) <= 1 - CONFIDENCE:
        outside += 1
    return Spread(statistics.median(ordered), ordered[outside], ordered[count - 1 - outside])


def _both_tails(below: int, count: int) -> float:
    """How likely the true median is outside when `below` values are cut off at each end."""
    return 2 * sum(comb(count, k) for k in range(below + 1)) / 2**count


def figures(measured: Measured, variant: str) -> list[Figure]:
    """CPU time first."""
    workload = measured.cell.workload
    pairs = measured.pairs[variant]
    if workload.is_idle:
        return [_figure("cpu", "s/s", pairs, lambda each: each.cpu_per_unit_s, relative=False)]
    found = [
        _figure("cpu", f"s/{workload.unit}", pairs, lambda each: each.cpu_per_unit_s),
        _figure("throughput", f"{workload.unit}s/s", pairs, lambda each: each.units_per_s),
    ]
    if workload.clients:
        found.append(_figure("p50", "s", pairs, lambda each: each.p50_s))
        found.append(_figure("p99", "s", pairs, lambda each: each.p99_s))
    return found


def _figure(
    name: str, unit: str, pairs: list[Pair], of: Callable[[Slice], float], relative: bool = True
) -> Figure:
    beside = [(of(pair.before) + of(pair.after)) / 2 for pair in pairs]
    under = [of(pair.observed) for pair in pairs]
    values = [one / other - 1 if relative else one - other for one, other in zip(under, beside)]
    medians = statistics.median(beside), statistics.median(under)
    return Figure(name, unit, *medians, spread(values), values)
