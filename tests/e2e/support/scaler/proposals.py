# SPDX-License-Identifier: Apache-2.0
"""From one metric to a number of replicas: pkg/controller/podautoscaler/replica_calculator.go."""

import math
from dataclasses import dataclass

from .keda import Failure
from .spec import TOLERANCE

CPU_INITIALIZATION_S = 300.0  # --horizontal-pod-autoscaler-cpu-initialization-period
INITIAL_READINESS_S = 30.0  # --horizontal-pod-autoscaler-initial-readiness-delay


@dataclass(frozen=True)
class Tolerance:
    up: float = TOLERANCE
    down: float = TOLERANCE

    def holds(self, ratio: float) -> bool:
        return 1.0 - self.down <= ratio <= 1.0 + self.up


def average_value(value: float, target: float, existing: int, tolerance: Tolerance) -> int:
    """GetExternalPerPodMetricReplicas: `value` is a sum over the fleet. `existing`
    (status.replicas) only decides whether the change is worth it; readiness plays no part."""
    ratio = _milli(value) / _milli(target)
    if existing and tolerance.holds(ratio / existing):
        return existing
    return math.ceil(ratio)


def plain_value(value: float, target: float, wanted: int, ready: int, tolerance: Tolerance) -> int:
    """GetExternalMetricReplicas: `value` is an average. Pods that are not ready are not counted, so
    a fleet whose pods fail their probes under overload asks for fewer."""
    ratio = _milli(value) / _milli(target)
    if wanted and tolerance.holds(ratio):
        return wanted
    return math.ceil(ratio * (ready if wanted else 1))


def _milli(value: float) -> int:
    """Quantities are whole thousandths: 2.1 / 0.7 is 3 there and a hair more in floating point."""
    return round(value * 1000)


@dataclass(frozen=True)
class CpuPod:
    """A pod as metrics-server and the API server know it; moments in seconds of any one clock."""

    name: str
    request_milli: int | None  # None: its containers request no CPU
    started_s: float
    ready: bool
    ready_changed_s: float  # when `ready` took its value
    running: bool = True  # False: pending
    ending: bool = False
    usage_milli: int | None = None  # None: no sample yet
    sampled_s: float = 0.0
    sample_window_s: float = 15.0


def cpu(
    pods: list[CpuPod], target_percent: float, wanted: int, now_s: float, tolerance: Tolerance
) -> int | Failure:
    """GetResourceReplicas: pods that start are left out, and count as idle or as busy, whichever
    makes the change smaller."""
    pods = [each for each in pods if not each.ending]
    if any(each.request_milli is None for each in pods):
        return Failure("a container requests no CPU: <unknown>")
    unready = {each.name for each in pods if _is_unready(each, now_s)}
    missing = {
        each.name for each in pods if each.name not in unready and each.usage_milli is None
    }
    usage = {
        each.name: each.usage_milli
        for each in pods
        if each.name not in unready and each.usage_milli is not None
    }
    if not usage:
        return Failure("no CPU sample of any pod that is ready")
    requests = {each.name: each.request_milli for each in pods}

    ratio = _ratio(usage, requests, target_percent)
    counts_unready = bool(unready) and ratio > 1.0
    if not counts_unready and not missing:
        return wanted if tolerance.holds(ratio) else math.ceil(ratio * len(usage))

    if ratio < 1.0:
        full_percent = max(100, int(target_percent))
        usage |= {name: requests[name] * full_percent // 100 for name in missing}
    elif ratio > 1.0:
        usage |= dict.fromkeys(missing, 0)
    if counts_unready:
        usage |= dict.fromkeys(unready, 0)
    return _guarded(ratio, _ratio(usage, requests, target_percent), len(usage), wanted, tolerance)


def _guarded(before: float, ratio: float, pods: int, wanted: int, tolerance: Tolerance) -> int:
    """What was assumed of pods without a sample must not turn the direction around."""
    if tolerance.holds(ratio) or (before - 1.0) * (ratio - 1.0) < 0:
        return wanted
    proposal = math.ceil(ratio * pods)
    turned = proposal > wanted if ratio < 1.0 else proposal < wanted
    return wanted if turned else proposal


def _is_unready(pod: CpuPod, now_s: float) -> bool:
    """groupPods, in its order: pending; without a sample it is missing rather than unready."""
    if not pod.running:
        return True
    if pod.usage_milli is None:
        return False
    if now_s < pod.started_s + CPU_INITIALIZATION_S:
        return not pod.ready or pod.sampled_s < pod.ready_changed_s + pod.sample_window_s
    return not pod.ready and pod.ready_changed_s < pod.started_s + INITIAL_READINESS_S


def _ratio(usage: dict, requests: dict, target_percent: float) -> float:
    """GetResourceUtilizationRatio: whole percents, rounded down, of the sums."""
    requested = sum(requests[name] for name in usage)
    return sum(usage.values()) * 100 // requested / target_percent
