# SPDX-License-Identifier: Apache-2.0
"""What the daemon may cost."""

import math
from dataclasses import dataclass

from .measure import Figures

AT = 250
# How far the last count may lie above the line through the others. It is what two runs differ by.
GROWTH_TOLERANCE = 1.25


@dataclass(frozen=True)
class Target:
    """What a figure stays below, at that many processes."""

    name: str
    title: str
    unit: str
    limit: float


TARGETS = (
    Target("cpu_scraped_percent", "CPU, scraped every 5 s", "% of a CPU", 1),
    Target("resident_mb", "resident memory", "MB", 50),
    Target("scrape_p99_ms", "scrape, p99", "ms", 20),
    Target("first_sample_max_s", "first sample of a new process, longest", "s", 1.5),
)
GROWING = {
    "cpu_scraped_percent": "CPU, scraped every 5 s",
    "resident_mb": "resident memory",
    "scrape_p50_ms": "scrape, p50",
    "exposition_kb": "exposition",
}


@dataclass(frozen=True)
class Verdict:
    passed: bool
    text: str

    def __str__(self) -> str:
        return f"{'PASS  ' if self.passed else 'MISSED'}  {self.text}"


def judge(rows: list[Figures]) -> list[Verdict]:
    """The targets where the largest count is there, growth where there are four counts or more."""
    verdicts = [_judge(target, row) for row in rows if row.processes == AT for target in TARGETS]
    if len(rows) >= 4:
        verdicts += [_judge_growth(name, title, rows) for name, title in GROWING.items()]
    return verdicts


def _judge(target: Target, row: Figures) -> Verdict:
    value = getattr(row, target.name)
    text = f"{target.title}, {row.processes} processes: {value:.2f} {target.unit}"
    return Verdict(value < target.limit, f"{text} (target: below {target.limit:g})")


def _judge_growth(name: str, title: str, rows: list[Figures]) -> Verdict:
    *before, last = [(row.processes, getattr(row, name)) for row in rows]
    expected = _on_line_through(before, last[0])
    ratio = last[1] / expected if expected > 0 else math.inf  # falling: the others are all noise
    text = f"growth of {title}: at {last[0]} processes {ratio:.2f} times what the others predict"
    return Verdict(ratio < GROWTH_TOLERANCE, f"{text} (target: below {GROWTH_TOLERANCE:g})")


def _on_line_through(points: list[tuple[float, float]], x: float) -> float:
    """By least squares."""
    mean_x = sum(at for at, _ in points) / len(points)
    mean_y = sum(value for _, value in points) / len(points)
    spread = sum((at - mean_x) ** 2 for at, _ in points)
    slope = sum((at - mean_x) * (value - mean_y) for at, value in points) / spread
    return mean_y + slope * (x - mean_x)
