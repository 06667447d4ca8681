# SPDX-License-Identifier: Apache-2.0
"""The decision: from what KEDA read and what the API server knows to a number of replicas."""

from dataclasses import dataclass, field

from . import proposals
from .keda import Failure, Fallbacks, Reading
from .limits import Memory, limited
from .proposals import CpuPod, Tolerance
from .spec import VALUE, Scaling, Trigger


@dataclass(frozen=True)
class Fleet:
    """What the API server says of the workload. `cpu_pods` only matter to a CPU trigger."""

    wanted: int  # spec.replicas
    existing: int  # status.replicas
    ready: int
    cpu_pods: tuple[CpuPod, ...] = ()


@dataclass(frozen=True)
class Decision:
    """`replicas` is what the fleet shall have now, `wish` what it would have without windows and
    policies; None when there was nothing to go by."""

    replicas: int
    wish: int | None
    why: str
    readings: dict[str, Reading] = field(default_factory=dict)  # after fallback, by trigger


class Hpa:
    """One HorizontalPodAutoscaler as KEDA makes it of a ScaledObject, with its memory."""

    def __init__(self, scaling: Scaling):
        self.scaling = scaling
        self._memory = Memory()
        self._fallbacks = Fallbacks(scaling)
        self._tolerance = Tolerance()
        if scaling.behavior is not None:
            behavior = scaling.behavior
            self._tolerance = Tolerance(behavior.up.tolerance, behavior.down.tolerance)

    def decide(self, now_s: float, fleet: Fleet, readings: dict[str, Reading]) -> Decision:
        """One sync (reconcileAutoscaler). `readings`: of every trigger that is a query."""
        if not self._memory.recommendations:
            self._memory.recommendations.append((now_s, fleet.wanted))
        readings = self._with_fallback(fleet, readings)
        if fleet.wanted == 0:
            return Decision(0, None, "scaled to zero: KEDA's own business", readings)
        if bounded := self._into_bounds(fleet.wanted):
            return Decision(bounded, None, "outside of minimum and maximum", readings)
        wish, why = self._wish(now_s, fleet, readings)
        if wish is None:
            return Decision(fleet.wanted, None, f"held: {why}", readings)
        replicas = limited(self.scaling, self._memory, now_s, fleet.wanted, wish)
        self._memory.scaled(now_s, fleet.wanted, replicas)
        return Decision(replicas, wish, why, readings)

    def _with_fallback(self, fleet: Fleet, readings: dict[str, Reading]) -> dict[str, Reading]:
        return {
            each.name: self._fallbacks.apply(
                each, readings[each.name], fleet.wanted, fleet.ready
            )
            for each in self.scaling.triggers
            if not each.is_cpu
        }

    def _into_bounds(self, wanted: int) -> int | None:
        inside = min(max(wanted, self.scaling.hpa_minimum), self.scaling.maximum)
        return None if inside == wanted else inside

    def _wish(self, now_s: float, fleet: Fleet, readings: dict) -> tuple[int | None, str]:
        """computeReplicasForMetrics: the largest proposal wins. If one metric fails, the others may
        still ask for more, but not for fewer."""
        proposed: dict[str, int] = {}
        failed: dict[str, str] = {}
        for trigger in self.scaling.triggers:
            proposal = self._proposal(trigger, now_s, fleet, readings)
            if isinstance(proposal, Failure):
                failed[trigger.name] = proposal.why
            else:
                proposed[trigger.name] = proposal
        largest = max(proposed, key=proposed.get, default=None)
        if largest is None or (failed and proposed[largest] < fleet.wanted):
            return None, "; ".join(f"{name}: {why}" for name, why in failed.items())
        return proposed[largest], largest

    def _proposal(
        self, trigger: Trigger, now_s: float, fleet: Fleet, readings: dict[str, Reading]
    ) -> int | Failure:
        if trigger.is_cpu:
            pods = list(fleet.cpu_pods)
            return proposals.cpu(pods, trigger.threshold, fleet.wanted, now_s, self._tolerance)
        reading = readings[trigger.name]
        if isinstance(reading, Failure):
            return reading
        if trigger.metric_type == VALUE:
            return proposals.plain_value(
                reading, trigger.threshold, fleet.wanted, fleet.ready, self._tolerance
            )
        return proposals.average_value(
            reading, trigger.threshold, fleet.existing, self._tolerance
        )
