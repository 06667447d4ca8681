# SPDX-License-Identifier: Apache-2.0
"""KEDA's part: what the HPA is told when Prometheus has answered, and when it has not."""

import math
from collections import Counter
from dataclasses import dataclass

from .spec import VALUE, Fallback, Scaling, Trigger


@dataclass(frozen=True)
class Failure:
    """There is no value, and why."""

    why: str


Values = list[float] | Failure
"""What a query returned: the value of each series."""

Reading = float | Failure


def read(values: Values, trigger: Trigger) -> Reading:
    """ExecutePromQuery: a null is an empty result, a NaN or an infinity. By default it is taken for
    0 (keda 3065), which is the smallest wish of all; with ignoreNullValues "false" it is an error,
    like several series."""
    if isinstance(values, Failure):
        return values
    if len(values) > 1:
        return Failure(f"{len(values)} series")
    if values and math.isfinite(values[0]):
        return in_milli(values[0])
    if trigger.ignore_nulls:
        return 0.0
    return Failure(f"the value is {values[0]}" if values else "the result is empty")


def in_milli(value: float) -> float:
    """quantityFromFloat64: values travel as %.3f, and none is negative."""
    return float(f"{max(value, 0.0):.3f}")


class Fallbacks:
    """Counts what failed, and puts a made-up value in its place when it failed too often."""

    def __init__(self, scaling: Scaling):
        self._fallback = scaling.fallback
        self._failures: Counter[str] = Counter()

    def apply(self, trigger: Trigger, reading: Reading, wanted: int, ready: int) -> Reading:
        """GetMetricsWithFallback. `wanted` is spec.replicas; `ready` counts ready pods."""
        if not isinstance(reading, Failure):
            self._failures[trigger.name] = 0
            return reading
        self._failures[trigger.name] += 1
        if self._fallback is None:
            return reading
        if self._failures[trigger.name] <= self._fallback.failure_threshold:
            return reading
        return _stand_in(self._fallback, trigger, wanted, ready)


def _stand_in(fallback: Fallback, trigger: Trigger, wanted: int, ready: int) -> Reading:
    """doFallback: the value that makes the HPA arrive at the replicas of the fallback. For Value
    only since KEDA 2.18, and not while no pod is ready."""
    replicas: float = _replicas(fallback, wanted)
    if trigger.metric_type == VALUE:
        if ready == 0:
            return Failure("no pod is ready: no fallback")
        replicas /= ready
    return int(trigger.threshold * 1000 * replicas) / 1000


def _replicas(fallback: Fallback, wanted: int) -> int:
    return {
        "static": fallback.replicas,
        "currentReplicas": wanted,
        "currentReplicasIfHigher": max(wanted, fallback.replicas),
        "currentReplicasIfLower": min(wanted, fallback.replicas),
    }[fallback.behavior]


def is_active(trigger: Trigger, reading: Reading) -> bool:
    """Whether it keeps the last pod alive; says nothing about any other pod."""
    return not isinstance(reading, Failure) and reading > trigger.activation
