# SPDX-License-Identifier: Apache-2.0
"""What the daemon says of one container, to be held against what its loops say of themselves."""

from dataclasses import dataclass
from typing import Callable

from .metrics import Exposition
from .pod_apps import LoopTruth

MAIN = "nodejs_eventloop"
WORKERS = "nodejs_worker_eventloop"


@dataclass(frozen=True)
class Account:
    """Of the main loops of a container together, or of those of its Workers."""

    active_s: float
    observed_s: float  # active or idle
    turns: float

    def __sub__(self, earlier: "Account") -> "Account":
        return Account(
            self.active_s - earlier.active_s,
            self.observed_s - earlier.observed_s,
            self.turns - earlier.turns,
        )


def account(said: Exposition, kind: str, labels: dict[str, str]) -> Account:
    """KeyError unless there is exactly one set of series with these labels."""
    times = f"{kind}_time_seconds_total"
    active = said.value(times, nodejs_eventloop_state="active", **labels)
    idle = said.value(times, nodejs_eventloop_state="idle", **labels)
    return Account(active, active + idle, said.value(f"{kind}_turns_total", **labels))


@dataclass(frozen=True)
class Range:
    """What a figure can be, in the words of those who know."""

    low: float
    high: float

    def widened(self, by: float) -> "Range":
        return Range(self.low - by, self.high + by)

    def scaled(self, by: float) -> "Range":
        return Range(self.low * by, self.high * by)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True)
class OwnWords:
    """What loops say of themselves before and after a look of the daemon."""

    before: list[LoopTruth]
    after: list[LoopTruth]

    def of(self, which: slice) -> "OwnWords":
        return OwnWords(self.before[which], self.after[which])


@dataclass(frozen=True)
class Comparison:
    """A span between two looks: in the daemon's words, and in the words of the loops."""

    said: Account
    begin: OwnWords
    end: OwnWords

    def _own(self, figure: Callable[[LoopTruth], float]) -> Range:
        """At least what lies between the looks, at most what lies around them as well."""
        a, b = self.begin, self.end
        times = [sum(map(figure, loops)) for loops in (a.before, a.after, b.before, b.after)]
        return Range(times[2] - times[1], times[3] - times[0])

    @property
    def loops(self) -> int:
        return len(self.end.after)

    @property
    def utilization(self) -> float:
        return self.said.active_s / self.said.observed_s

    @property
    def own_utilization(self) -> Range:
        """Over the daemon's span."""
        active = self._own(lambda loop: loop.active_s)
        return Range(active.low / self.said.observed_s, active.high / self.said.observed_s)

    @property
    def own_turns(self) -> Range | None:
        """None where this Node.js does not tell."""
        if self.begin.before[0].turns is None:
            return None
        return self._own(lambda loop: loop.turns)

    @property
    def chained(self) -> int:
        """So many turns were made for certain."""
        return int(self._own(lambda loop: loop.chained).low)

    def row(self, title: str) -> str:
        turns = self.own_turns or f"over {self.chained}"
        return (
            f"| {title} | {self.loops} | {self.utilization:.4f} | {self.own_utilization} "
            f"| {self.said.turns:.0f} | {turns} |"
        )


HEADER = (
    "| container | loops | utilization | its own | turns | its own |\n"
    "|---|---|---|---|---|---|"
)
