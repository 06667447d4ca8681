# SPDX-License-Identifier: Apache-2.0
"""Measures one cell: slices of unobserved time, and between them one of each variant per round."""

import random
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from .application import Application, Slice
from .machine import Machine
from .observers import observed
from .plan import EXPORTER, Cell, Variant

# V8 has compiled what it will after so much CPU time; some applications never use so much.
WARM_UP_CPU_S = 1.5
WARM_UP_S = 5.0
STEP_S = 0.25


@dataclass(frozen=True)
class Pair:
    """A slice under a variant, and the unobserved ones before and after it."""

    observed: Slice
    before: Slice
    after: Slice


@dataclass
class Measured:
    """All pairs of a cell, by the variant's name, in the order of the rounds."""

    cell: Cell
    pairs: dict[str, list[Pair]] = field(default_factory=dict)
    doors: dict[str, set[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Pace:
    rounds: int
    slice_s: float
    warm_up_s: float = WARM_UP_S


def warm_up(application: Application, at_most_s: float) -> None:
    cpu_s = spent_s = 0.0
    while cpu_s < WARM_UP_CPU_S and spent_s < at_most_s:
        step = application.measure(STEP_S)
        cpu_s, spent_s = cpu_s + step.cpu_s, spent_s + step.seconds


class Bench:
    """The application of one cell, and its twin that exports its own metrics if that is asked for.
    One of them runs at a time."""

    def __init__(self, machine: Machine, cell: Cell, pace: Pace):
        self._cell, self._pace = cell, pace
        self._node: Path = machine.node(cell.node)
        with ExitStack() as running:
            self._plain = self._start(running, machine, exporter=False)
            self._twin = None
            if EXPORTER in cell.variants:
                self._plain.pause()
                self._twin = self._start(running, machine, exporter=True)
                self._twin.pause()
                self._plain.resume()
            self._running = running.pop_all()

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *_) -> None:
        self._running.close()

    def unobserved(self) -> Slice:
        return self._plain.measure(self._slice_s)

    def under(self, variant: Variant) -> tuple[Slice, str]:
        """A slice, and the door that uvtap took."""
        if variant is EXPORTER:
            return self._under_exporter(), ""
        if self._cell.has_to_settle(variant):
            self._plain.load()
        with observed(variant, self._cell, self._node, self._plain.pid) as door:
            return self._plain.measure(self._slice_s), door()

    @property
    def _slice_s(self) -> float:
        return self._pace.slice_s * self._cell.workload.slices

    def _start(self, running: ExitStack, machine: Machine, exporter: bool) -> Application:
        application = Application(machine, self._node, self._cell.workload, exporter)
        running.enter_context(application)
        warm_up(application, self._pace.warm_up_s)
        return application

    def _under_exporter(self) -> Slice:
        self._change(self._plain, self._twin)
        self._twin.scrape()
        result = self._twin.measure(self._slice_s)
        self._change(self._twin, self._plain)
        return result

    def _change(self, paused: Application, resumed: Application) -> None:
        """The first moments after a pause are slower, and count for nothing."""
        paused.pause()
        resumed.resume()
        resumed.measure(self._slice_s / 2)


def measure(
    machine: Machine, cell: Cell, pace: Pace, draw: random.Random, step: Callable[[], None]
) -> Measured:
    """`step` is called after each pair."""
    result = Measured(cell)
    with Bench(machine, cell, pace) as bench:
        before = bench.unobserved()
        for _ in range(pace.rounds):
            for variant in draw.sample(cell.variants, len(cell.variants)):
                slice_, door = bench.under(variant)
                after = bench.unobserved()
                result.pairs.setdefault(variant.name, []).append(Pair(slice_, before, after))
                result.doors.setdefault(variant.name, set()).add(door)
                before = after
                step()
    return result
