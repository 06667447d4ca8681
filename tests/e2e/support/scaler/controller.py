# SPDX-License-Identifier: Apache-2.0
"""The shell: asks Prometheus, and decides when it is time."""

import json
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import replace
from typing import Callable

from .hpa import Decision, Fleet, Hpa
from .keda import Failure, Reading, Values, is_active, read
from .spec import Scaling

SYNC_S = 15.0  # --horizontal-pod-autoscaler-sync-period
TIMEOUT_S = 3.0  # KEDA_HTTP_DEFAULT_TIMEOUT


class Prometheus:
    """Asks as KEDA does: an instant query, no retry."""

    def __init__(self, address: str):
        self._address = address

    def values(self, promql: str) -> Values:
        url = f"{self._address}/api/v1/query?{urllib.parse.urlencode({'query': promql})}"
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response:
                return _values(json.load(response)["data"])
        except (OSError, ValueError, KeyError) as error:
            return Failure(f"Prometheus: {error}")


def _values(data: dict) -> Values:
    if data["resultType"] != "vector":
        return Failure(f"the result is a {data['resultType']}")
    return [float(series["value"][1]) for series in data["result"]]


class Controller:
    """Asks and decides at each sync of the HPA: for a fleet that is not at zero, that and not
    `pollingInterval` is how often KEDA's metrics are asked for."""

    def __init__(
        self, scaling: Scaling, ask: Callable[[str], Values], sync_s: float = SYNC_S
    ):
        """`ask`: what a query returns. Prometheus(address).values, or made up by a test."""
        self.scaling = scaling
        self._ask = ask
        self._sync_s = sync_s
        self._hpa = Hpa(scaling)
        self._next_s: float | None = None
        self._active_s: float | None = None

    def tick(self, now_s: float, fleet: Fleet) -> Decision | None:
        """None until the next sync is due. `now_s`: a clock that never goes back."""
        if self._next_s is not None and now_s < self._next_s:
            return None
        at_zero = fleet.wanted == 0
        self._next_s = now_s + (self.scaling.polling_s if at_zero else self._sync_s)
        readings = self.readings()
        decision = self._hpa.decide(now_s, fleet, readings)
        return self._around_zero(now_s, fleet, decision)

    def readings(self) -> dict[str, Reading]:
        queries = (each for each in self.scaling.triggers if not each.is_cpu)
        return {each.name: read(self._ask(each.query), each) for each in queries}

    def _around_zero(self, now_s: float, fleet: Fleet, decision: Decision) -> Decision:
        """RequestScale: the first pod and the last are KEDA's. With a minimum of one or more none
        of this happens, and activationThreshold and cooldownPeriod mean nothing."""
        if self.scaling.minimum > 0 and fleet.wanted > 0:
            return decision
        readings = decision.readings
        if self._is_active(readings):
            self._active_s = now_s
            woken = self.scaling.hpa_minimum
            return decision if fleet.wanted else replace(decision, replicas=woken, why="active")
        failed = any(isinstance(each, Failure) for each in readings.values())
        if self.scaling.minimum == 0 and not failed and self._cooled_down(now_s):
            return replace(decision, replicas=0, why="inactive")
        return decision

    def _is_active(self, readings: dict[str, Reading]) -> bool:
        """CPU is active always, unless there is something else to go by."""
        queries = [each for each in self.scaling.triggers if not each.is_cpu]
        return not queries or any(is_active(each, readings[each.name]) for each in queries)

    def _cooled_down(self, now_s: float) -> bool:
        return self._active_s is None or now_s > self._active_s + self.scaling.cooldown_s
