# SPDX-License-Identifier: Apache-2.0
"""The pictures of a workload: how the lanes fared, and what their controllers were told."""

import math
from bisect import bisect
from typing import Iterable

from support.scaler import Decision
from support.scaler.spec import VALUE, Trigger

from .lane import FleetSize, Record
from .outcome import TARGET, percentile, utilization
from .run import Result
from .svg import Chart, Line, Panel, Points
from .workloads import TIMEOUT_S, Workload

COLORS = {  # Okabe and Ito's, which everybody can tell apart
    "A": "#777777", "P": "#e69f00", "B": "#d55e00", "C": "#0072b2", "D": "#009e73", "E": "#cc79a7",
}  # fmt: skip
DASHES = {"C": "5 3"}  # lies on B, if all is well
SLICE_S = 5
SIGNAL_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")


def fared(result: Result) -> str:
    """Load, latency, pods and utilization of all lanes."""
    workload, records = result.workload, result.records
    most = max(users for _, users in workload.stages)
    ticks = (0, most / 2, most)
    users = Panel("virtual users", most * 1.05, [Line(_users(workload), "#333")], ticks=ticks)
    latency = Panel(
        f"P95 latency in seconds (of {SLICE_S} s; {TIMEOUT_S:.0f} s is a lost request)",
        6, _lines(records, _latencies), 0.08, True, (0.1, 0.3, 1, 3),
    )  # fmt: skip
    answered = Panel("answers per second", 110, _lines(records, _answers), ticks=(0, 50, 100))
    pods = Panel("pods that are ready", 21, _lines(records, _ready, True), ticks=(0, 5, 10, 15, 20))
    busy = Panel(
        "mean utilization of those pods (of 10 s)", 1.02, _lines(records, utilization),
        ticks=(0, 0.5, 1), marks={TARGET: "target"},
    )  # fmt: skip
    panels = [users, latency, answered, pods, busy]
    return Chart(workload.title, workload.length_s, panels, _legend(records)).svg()


def signals(result: Result) -> str:
    """What each controller made of what it read."""
    workload = result.workload
    records = [each for each in result.records if _queries(each)]
    names = list(dict.fromkeys(_plain(name) for each in records for name in _queries(each)))
    colors = dict(zip(names, SIGNAL_COLORS))
    panels = [_signals_panel(each, colors) for each in records]
    legend = [(name, color, "") for name, color in colors.items()]
    title = f"{workload.title}: what each signal asks for, as a multiple of the pods there are"
    return Chart(title, workload.length_s, panels, legend).svg()


def _signals_panel(record: Record, colors: dict[str, str]) -> Panel:
    lines = [
        Line(_asked(record, trigger), colors[_plain(name)], steps=True)
        for name, trigger in _queries(record).items()
    ]
    title = f"{record.scenario.key}  {record.scenario.title}"
    return Panel(title, 30, lines, 0.1, True, (0.1, 1, 10), {1: "as it is"})


def _queries(record: Record) -> dict[str, Trigger]:
    return {each.name: each for each in record.triggers if not each.is_cpu}


def _plain(name: str) -> str:
    """The published file gives its triggers no names."""
    return {"s0-prometheus": "delay", "s1-prometheus": "utilization"}.get(name, name)


def _legend(records: list[Record]) -> list[tuple[str, str, str]]:
    return [
        (f"{each.key} {each.title}", COLORS[each.key], DASHES.get(each.key, ""))
        for each in (record.scenario for record in records)
    ]


def _lines(records: list[Record], points, steps: bool = False) -> list[Line]:
    return [
        Line(points(each), COLORS[each.scenario.key], DASHES.get(each.scenario.key, ""), steps)
        for each in records
    ]


def _users(workload: Workload) -> Points:
    points, now_s = [(0.0, workload.stages[0][1])], 0.0
    for seconds, users in workload.stages:
        now_s += seconds
        points.append((now_s, users))
    return points


def _slices(record: Record) -> Iterable[tuple[float, list]]:
    """Requests by when they were over."""
    over = sorted(record.requests, key=lambda each: each.at_s + each.latency_s)
    ends = [each.at_s + each.latency_s for each in over]
    last = ends[-1] if ends else 0
    for begin in range(0, int(last), SLICE_S):
        within = over[bisect(ends, begin) : bisect(ends, begin + SLICE_S)]
        yield begin + SLICE_S / 2, within


def _latencies(record: Record) -> Points:
    return [(at, percentile(requests, 95)) for at, requests in _slices(record)]


def _answers(record: Record) -> Points:
    return [(at, sum(each.ok for each in found) / SLICE_S) for at, found in _slices(record)]


def _ready(record: Record) -> Points:
    """Only where it changes."""
    points: Points = []
    for size in record.sizes:
        if not points or size.ready != points[-1][1]:
            points.append((size.at_s, size.ready))
    return [*points, (record.sizes[-1].at_s, record.sizes[-1].ready)]


def _asked(record: Record, trigger: Trigger) -> Points:
    points = [(size.at_s, _ratio(size, made, trigger)) for size, made in record.decisions]
    return [*points, (record.sizes[-1].at_s, points[-1][1])] if points else []


def _ratio(size: FleetSize, decision: Decision, trigger: Trigger) -> float:
    """The HPA's usage ratio, before its tolerance. NaN: there was no value."""
    reading = decision.readings.get(trigger.name)
    if not isinstance(reading, float | int):
        return math.nan
    ratio = reading / trigger.threshold
    return ratio if trigger.metric_type == VALUE else ratio / size.existing
