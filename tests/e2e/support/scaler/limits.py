# SPDX-License-Identifier: Apache-2.0
"""Stabilization windows, policies, bounds: pkg/controller/podautoscaler/horizontal.go."""

import math
from dataclasses import dataclass, field
from typing import Iterable

from .spec import DOWN_STABILIZATION_S, Policy, Rules, Scaling


@dataclass
class Memory:
    """What the HPA controller remembers of one HPA. Moments in seconds of any one clock."""

    recommendations: list[tuple[float, int]] = field(default_factory=list)
    added: list[tuple[float, int]] = field(default_factory=list)
    removed: list[tuple[float, int]] = field(default_factory=list)

    def scaled(self, now_s: float, wanted: int, replicas: int) -> None:
        change = replicas - wanted
        if change > 0:
            self.added.append((now_s, change))
        elif change < 0:
            self.removed.append((now_s, -change))

    def at_period_start(self, now_s: float, wanted: int, period_s: int) -> int:
        since_s = now_s - period_s
        return wanted - _since(self.added, since_s) + _since(self.removed, since_s)


def limited(scaling: Scaling, memory: Memory, now_s: float, wanted: int, wish: int) -> int:
    """The number of replicas that may be asked for now. Remembers the wish."""
    if scaling.behavior is None:
        stable = _stabilized_plainly(memory, now_s, wish)
        replicas = min(stable, max(2 * wanted, 4))  # calculateScaleUpLimit
    else:
        up, down = scaling.behavior.up, scaling.behavior.down
        stable = _stabilized(memory, now_s, wanted, wish, up.stabilization_s, down.stabilization_s)
        replicas = _within_policies(up, down, memory, now_s, wanted, stable)
    memory.recommendations.append((now_s, wish))
    return min(max(replicas, scaling.hpa_minimum), scaling.maximum)


def _stabilized_plainly(memory: Memory, now_s: float, wish: int) -> int:
    """stabilizeRecommendation, for an HPA without behavior."""
    return max([wish, *_recent(memory, now_s - DOWN_STABILIZATION_S)])


def _stabilized(
    memory: Memory, now_s: float, wanted: int, wish: int, up_s: int, down_s: int
) -> int:
    """stabilizeRecommendationWithBehaviors: up no further than the smallest wish of its window,
    down no further than the largest of its own."""
    lowest = min([wish, *_recent(memory, now_s - up_s)])
    highest = max([wish, *_recent(memory, now_s - down_s)])
    return min(max(wanted, lowest), highest)


def _recent(memory: Memory, cutoff_s: float) -> list[int]:
    return [count for at_s, count in memory.recommendations if at_s > cutoff_s]


def _within_policies(
    up: Rules, down: Rules, memory: Memory, now_s: float, wanted: int, wish: int
) -> int:
    """convertDesiredReplicasWithBehaviorRate."""
    if wish > wanted:
        limits = (_up_to(each, memory, now_s, wanted) for each in up.policies)
        return min(wish, max(wanted, _selected(up, limits, wanted, max, min)))
    if wish < wanted:
        limits = (_down_to(each, memory, now_s, wanted) for each in down.policies)
        return max(wish, min(wanted, _selected(down, limits, wanted, min, max)))
    return wish


def _selected(rules: Rules, limits: Iterable[int], wanted: int, largest, smallest) -> int:
    """`largest` and `smallest` choose the limit of the largest and the smallest change."""
    if rules.select == "Disabled":
        return wanted
    return smallest(limits) if rules.select == "Min" else largest(limits)


def _up_to(policy: Policy, memory: Memory, now_s: float, wanted: int) -> int:
    start = memory.at_period_start(now_s, wanted, policy.period_s)
    if policy.kind == "Pods":
        return start + policy.value
    return math.ceil(start * (1 + policy.value / 100))


def _down_to(policy: Policy, memory: Memory, now_s: float, wanted: int) -> int:
    start = memory.at_period_start(now_s, wanted, policy.period_s)
    if policy.kind == "Pods":
        return start - policy.value
    return int(start * (1 - policy.value / 100))  # rounds down: 7.2 of 8 become 7


def _since(events: list[tuple[float, int]], cutoff_s: float) -> int:
    return sum(count for at_s, count in events if at_s > cutoff_s)
