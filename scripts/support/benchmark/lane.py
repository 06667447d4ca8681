# SPDX-License-Identifier: Apache-2.0
"""One scenario: users, a deployment, and the controller that scales it."""

import time
from dataclasses import dataclass, field
from threading import Event

from support.scaler import Controller, Decision, Prometheus
from support.scaler.spec import Trigger

from .deployment import Deployment
from .machine import Machine
from .pod import Home
from .scenarios import Scenario
from .users import Request, Users
from .witness import Look
from .workloads import Workload

TICK_S = 0.2


@dataclass(frozen=True)
class Start:
    """The moment the load began, on both clocks."""

    monotonic_s: float = field(default_factory=time.monotonic)
    epoch_s: float = field(default_factory=time.time)

    def now_s(self) -> float:
        return time.monotonic() - self.monotonic_s


@dataclass(frozen=True)
class FleetSize:
    at_s: float
    wanted: int
    existing: int
    ready: int


@dataclass
class Record:
    """What happened in a lane; all moments in seconds since the load began."""

    scenario: Scenario
    triggers: tuple[Trigger, ...]
    sizes: list[FleetSize] = field(default_factory=list)
    decisions: list[tuple[FleetSize, Decision]] = field(default_factory=list)  # made at that size
    looks: list[Look] = field(default_factory=list)
    lives: list[tuple[float, float]] = field(default_factory=list)  # of pods
    pod_uids: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)


class Lane:
    """All of it happens in the thread that calls `prepare` and `run`: when that ends, so do the
    processes it started."""

    def __init__(self, scenario: Scenario, workload: Workload, machine: Machine, seed: int):
        scaling = scenario.scaling()
        self.namespace = scenario.namespace
        self.record = Record(scenario, scaling.triggers)
        self._workload = workload
        self._machine = machine
        self._seed = seed
        ask = Prometheus(machine.prometheus.address).values
        self._controller = Controller(scaling, ask, machine.pace.sync)
        self._first = scaling.minimum
        home = Home(
            scenario.namespace, workload.work, scenario.in_process, machine.api, machine.pace
        )
        targets = machine.targets(scenario)
        self._deployment = Deployment(home, machine.balancer, targets)

    def prepare(self, stop: Event) -> None:
        """Returns when the first pods are ready, and no scrape speaks of their start any more."""
        self._deployment.begin(self._first)
        stop.wait(2 * self._machine.pace.scrape)

    def run(self, start: Start, stop: Event) -> Record:
        log = self._machine.folder / f"{self.namespace}.requests"
        port = self._machine.balancer.ports[self.namespace]
        users = Users(self._workload, port, self._seed, log)
        try:
            while (now_s := start.now_s()) < self._workload.length_s and not stop.wait(TICK_S):
                self._step(now_s)
                if fault := users.fault():
                    raise AssertionError(f"{self.namespace}: {fault}")
        finally:
            users.close()
        self.record.requests = users.requests(start.epoch_s)
        self.record.lives = [
            (each.asked_s, now_s if each.ended_s is None else each.ended_s)
            for each in self._deployment.pods
        ]
        self.record.pod_uids = [each.cgroup.uid for each in self._deployment.pods]
        return self.record

    def close(self) -> None:
        self._deployment.kill(0)

    def ready_pods(self) -> set[str]:
        return {each.name for each in self._deployment.ready()}

    def _step(self, now_s: float) -> None:
        self._deployment.advance(now_s)
        fleet = self._deployment.fleet()
        size = FleetSize(now_s, fleet.wanted, fleet.existing, fleet.ready)
        self.record.sizes.append(size)
        decision = self._controller.tick(now_s, fleet)
        if decision:
            self.record.decisions.append((size, decision))
            if decision.replicas != fleet.wanted:
                self._deployment.scale(decision.replicas, now_s)
