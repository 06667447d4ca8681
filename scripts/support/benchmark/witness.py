# SPDX-License-Identifier: Apache-2.0
"""How busy the pods that take requests really are: from uvtap's counters, looked at often, and
independent of what any controller is told and when."""

import re
from collections import defaultdict
from dataclasses import dataclass

from support.uvtap import Uvtap

EVERY_S = 2.0
_SAMPLE = re.compile(
    r"^nodejs_eventloop_(?:time|active)_seconds_total\{(?P<labels>.*)\} (?P<seconds>\S+)$", re.M
)
_LABEL = re.compile(r'(namespace|pod|nodejs_eventloop_state|cause)="([^"]*)"')

Pod = tuple[str, str]
Times = dict[str, float]
"""Seconds by state (active, idle) and, of the active ones, by cause (cpu, runqueue, blocked)."""


@dataclass(frozen=True)
class Look:
    """Of some pods, since the look before."""

    at_s: float
    utilization: float  # mean
    starved: float  # share of their active time in which they waited for a CPU


class Witness:
    def __init__(self, uvtap: Uvtap):
        self._uvtap = uvtap
        self._before: dict[Pod, Times] = {}

    def look(self, now_s: float, ready: dict[str, set[str]]) -> dict[str, Look]:
        """Of each namespace with pods that are ready and known."""
        now = self._times()
        spans = {pod: _since(now[pod], self._before[pod]) for pod in now if pod in self._before}
        self._before = now
        looks = {}
        for namespace, pods in ready.items():
            found = [spans[namespace, pod] for pod in pods if (namespace, pod) in spans]
            if found:
                looks[namespace] = _together(now_s, found)
        return looks

    def _times(self) -> dict[Pod, Times]:
        times: dict[Pod, Times] = defaultdict(dict)
        for match in _SAMPLE.finditer(self._uvtap.get("/metrics")[1]):
            labels = dict(_LABEL.findall(match["labels"]))
            kind = labels.get("cause") or labels["nodejs_eventloop_state"]
            times[labels["namespace"], labels["pod"]][kind] = float(match["seconds"])
        return times


def _since(now: Times, before: Times) -> Times:
    return {kind: seconds - before.get(kind, 0) for kind, seconds in now.items()}


def _together(now_s: float, spans: list[Times]) -> Look:
    shares = [_share(each["active"], each["active"] + each["idle"]) for each in spans]
    active, starved = (sum(each[kind] for each in spans) for kind in ("active", "runqueue"))
    return Look(now_s, sum(shares) / len(shares), _share(starved, active))


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
