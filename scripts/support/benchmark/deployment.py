# SPDX-License-Identifier: Apache-2.0
"""As many pods as were asked for: the Deployment's and the kubelet's part."""

import itertools
import json
import time
from pathlib import Path

from support.scaler import Fleet

from .balancer import Balancer
from .cpu_meter import CpuMeter
from .pod import Home, Pod, State

LONG_AGO_S = -3600.0
FIRST_PODS_WITHIN_S = 20.0
# Whom a ReplicaSet ends first: those that are not ready, then the youngest.
_FIRST_TO_END = [State.PENDING, State.STARTING, State.READY]


class Deployment:
    """`targets`: a file that says where the pods' own metrics are, as file_sd_configs wants it."""

    def __init__(self, home: Home, balancer: Balancer, targets: Path):
        self.pods: list[Pod] = []  # those that are gone, too
        self.wanted = 0
        self._home = home
        self._balancer = balancer
        self._targets = targets
        self._meter = CpuMeter(home.pace.scrape)
        self._slots: dict[str, int] = {}
        self._numbers = itertools.count(1)

    def begin(self, replicas: int) -> None:
        """Returns when so many pods are ready. They count as having been there for long."""
        self.scale(replicas, LONG_AGO_S)
        deadline = time.monotonic() + FIRST_PODS_WITHIN_S
        while len(self.ready()) < replicas:
            self._advance_pods(LONG_AGO_S, hurry=True)
            if time.monotonic() > deadline:
                raise AssertionError(f"no {replicas} pods within {FIRST_PODS_WITHIN_S} s")
            time.sleep(0.05)

    def scale(self, replicas: int, now_s: float) -> None:
        there = self._counted()
        for _ in range(replicas - len(there)):
            self.pods.append(Pod(self._home, next(self._numbers), now_s))
        for pod in _least_worth(there)[: max(0, len(there) - replicas)]:
            self._end(pod, now_s)
        self.wanted = replicas

    def advance(self, now_s: float) -> None:
        """Makes happen what is due by now."""
        self._advance_pods(now_s)
        self._meter.look(now_s, self.pods)
        self._write_targets()

    def ready(self) -> list[Pod]:
        return [each for each in self.pods if each.state is State.READY]

    def fleet(self) -> Fleet:
        counted = self._counted()
        sampled_s = self._meter.sampled_s
        cpu = (each.for_hpa(self._meter.usage_milli(each), sampled_s) for each in counted)
        return Fleet(self.wanted, len(counted), len(self.ready()), tuple(cpu))

    def kill(self, now_s: float) -> None:
        """Nothing is left."""
        for pod in self.pods:
            pod.kill(now_s)

    def _counted(self) -> list[Pod]:
        return [each for each in self.pods if each.counts]

    def _advance_pods(self, now_s: float, hurry: bool = False) -> None:
        for pod in self.pods:
            before, after = pod.state, pod.advance(now_s, hurry)
            if fault := pod.fault():
                raise AssertionError(f"{self._home.namespace}: {fault}")
            if after is not before:
                self._follow(pod)

    def _follow(self, pod: Pod) -> None:
        """The load balancer learns of the pod's new state."""
        if pod.state is State.READY:
            self._slots[pod.name] = self._balancer.add(self._home.namespace, pod.port)
        elif pod.state is State.GONE and pod.name in self._slots:
            self._balancer.free(self._home.namespace, self._slots.pop(pod.name))

    def _end(self, pod: Pod, now_s: float) -> None:
        if pod.name in self._slots:
            self._balancer.unlist(self._home.namespace, self._slots[pod.name])
        pod.end(now_s)

    def _write_targets(self) -> None:
        known = [each for each in self.pods if each.port and each.state is not State.GONE]
        groups = [
            {"targets": [f"127.0.0.1:{each.port}"], "labels": {"pod": each.name}} for each in known
        ]
        text = json.dumps(groups)
        if not self._targets.exists() or self._targets.read_text() != text:
            new = self._targets.with_suffix(".new")
            new.write_text(text)
            new.rename(self._targets)


def _least_worth(pods: list[Pod]) -> list[Pod]:
    return sorted(pods, key=lambda each: (_FIRST_TO_END.index(each.state), -each.asked_s))
