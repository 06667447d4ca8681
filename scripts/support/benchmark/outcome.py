# SPDX-License-Identifier: Apache-2.0
"""The figures of a lane."""

import math
from dataclasses import dataclass

from .lane import Record
from .users import Request
from .witness import Look
from .workloads import Workload

TARGET = 0.7  # utilization of a pod, in all the files but the HPA's
ABOVE = TARGET * 1.1  # above it by more than the HPA tolerates
SMOOTH = 5  # looks of the witness
SETTLED_S = 60  # the end of the time with most users


@dataclass(frozen=True)
class Outcome:
    """Of the time with load, without warm-up and tail, unless said otherwise. NaN: nothing to tell."""

    p50_s: float
    p95_s: float
    p99_s: float
    settled_p95_s: float  # of the last minute with all users
    requests: int
    errors: int
    throughput: float  # answered, per second
    peak_pods: int
    first_pod_s: float  # from overload until one more pod is ready
    pod_seconds: float
    pod_seconds_all: float  # with the tail
    above_target: float  # share of time
    starved: float  # share of active time spent waiting for a CPU


def outcome(record: Record, workload: Workload) -> Outcome:
    begin, end = workload.warm_up_s, workload.busy_s
    asked = [each for each in record.requests if begin <= each.at_s < end]
    last = _until_most(workload)
    settled = [each for each in asked if last - SETTLED_S <= each.at_s < last]
    looks = [each for each in record.looks if begin <= each.at_s < end]
    errors = sum(not each.ok for each in asked)
    return Outcome(
        p50_s=percentile(asked, 50),
        p95_s=percentile(asked, 95),
        p99_s=percentile(asked, 99),
        settled_p95_s=percentile(settled, 95),
        requests=len(asked),
        errors=errors,
        throughput=(len(asked) - errors) / (end - begin),
        peak_pods=max(each.ready for each in record.sizes),
        first_pod_s=_first_pod_s(record, begin),
        pod_seconds=_pod_seconds(record, begin, end),
        pod_seconds_all=_pod_seconds(record, begin, workload.length_s),
        above_target=_mean([busy > ABOVE for at, busy in utilization(record) if begin <= at < end]),
        starved=_mean([each.starved for each in looks]),
    )


def percentile(requests: list[Request], percent: float) -> float:
    """Of all requests; one that failed took as long as its user waited."""
    latencies = sorted(each.latency_s for each in requests)
    if not latencies:
        return math.nan
    return latencies[math.ceil(len(latencies) * percent / 100) - 1]


def utilization(record: Record) -> list[tuple[float, float]]:
    """Of the pods that take requests, over ten seconds, and when: a pod that works for 100 ms at a
    time is always too busy or too idle at shorter ones."""
    looks = record.looks
    groups = (looks[max(0, i - SMOOTH + 1) : i + 1] for i in range(len(looks)))
    return [(group[-1].at_s, _mean([each.utilization for each in group])) for group in groups]


def _until_most(workload: Workload) -> float:
    """When the last of the stages with most users ends."""
    most = max(users for _, users in workload.stages)
    ends, now_s = 0.0, 0.0
    for seconds, users in workload.stages:
        now_s += seconds
        ends = now_s if users == most else ends
    return ends


def _first_pod_s(record: Record, begin: float) -> float:
    overload_s = _overload_s([each for each in record.looks if each.at_s >= begin])
    there = next(each.ready for each in record.sizes)
    more = (
        each.at_s for each in record.sizes if each.at_s >= begin and each.ready > there
    )
    return next(more, math.nan) - overload_s


def _overload_s(looks: list[Look]) -> float:
    """At the first of two looks in a row: one alone can be chance."""
    both = (a.at_s for a, b in zip(looks, looks[1:]) if min(a.utilization, b.utilization) > ABOVE)
    return next(both, math.nan)


def _pod_seconds(record: Record, begin: float, end: float) -> float:
    """From being asked for, since that is when room is taken, to the end of the process."""
    return sum(max(0, min(ended, end) - max(asked, begin)) for asked, ended in record.lives)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan
