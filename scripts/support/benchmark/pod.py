# SPDX-License-Identifier: Apache-2.0
"""One replica, from being asked for to its end."""

import select
import signal
import subprocess
import urllib.request
from dataclasses import dataclass
from enum import Enum

from support import kube_pods
from support.kube_api import KubeApi
from support.nodes import ENVIRONMENT, node
from support.scaler import CpuPod

from . import tools
from .cgroups import PodCgroup
from .pace import Pace
from .scenarios import CONTAINER

NODE = "22"
WORKLOAD = "checkout"
CPU_REQUEST_MILLI = 500
PROBE_TIMEOUT_S = 1.0
# Everything else comes first, so that a machine full of busy pods does not slow the load down.
NICENESS = "5"


class State(Enum):
    PENDING = "pending"
    STARTING = "starting"
    READY = "ready"
    UNLISTED = "unlisted"  # gets no new requests
    ENDING = "ending"  # was told to end
    GONE = "gone"


@dataclass(frozen=True)
class Home:
    """Where pods of a lane live, and what they run."""

    namespace: str
    work: str
    in_process: bool
    api: KubeApi
    pace: Pace

    def command(self, seed: int) -> list[str]:
        metrics = ["in-process"] if self.in_process else []
        return node(NODE).command("article_app.js", self.work, str(seed), *metrics)


class Pod:
    """`advance` makes happen what is due; all moments are on the caller's clock."""

    def __init__(self, home: Home, number: int, now_s: float):
        self.state = State.PENDING
        self.asked_s = self.since_s = now_s
        self.ended_s: float | None = None
        self.port = 0
        self.cgroup = PodCgroup()
        self.name = f"{WORKLOAD}-{number}"
        self._home = home
        self._number = number
        self._process: subprocess.Popen | None = None

    def advance(self, now_s: float, hurry: bool = False) -> State:
        """The state after it. `hurry`: nothing is waited for but the pod itself."""
        pace = self._home.pace
        for_s = float("inf") if hurry else now_s - self.since_s
        if self._process and not self.port:
            self._learn_port()
        if self.state is State.PENDING and for_s >= pace.container:
            self._start()
            self._enter(State.STARTING, now_s)
        elif self.state is State.STARTING and for_s >= pace.readiness and self._answers():
            self._enter(State.READY, now_s)
        elif self.state is State.UNLISTED and for_s >= pace.unlisted:
            self._process.send_signal(signal.SIGTERM)
            self._enter(State.ENDING, now_s)
        elif self.state is State.ENDING:
            self._await_end(now_s, for_s)
        return self.state

    def end(self, now_s: float) -> None:
        """No longer wanted."""
        if self._process:
            self._enter(State.UNLISTED, now_s)
        else:
            self.cgroup.remove()
            self._be_gone(now_s)

    def kill(self, now_s: float) -> None:
        """At once, whatever it is doing."""
        if self._process and self.state is not State.GONE:
            self._process.kill()
            self._process.wait()
            self._bury(now_s)
        elif self.state is State.PENDING:
            self.end(now_s)

    @property
    def counts(self) -> bool:
        """Among the replicas of its Deployment."""
        return self.state in (State.PENDING, State.STARTING, State.READY)

    def fault(self) -> str | None:
        """Why it is not there, though it should be."""
        if self._process is None or self.state in (State.ENDING, State.GONE):
            return None
        code = self._process.poll()
        return None if code is None else f"{self.name} ended with {code}"

    def for_hpa(self, usage_milli: int | None, sampled_s: float) -> CpuPod:
        return CpuPod(
            name=self.name,
            request_milli=CPU_REQUEST_MILLI,
            started_s=self.asked_s,
            ready=self.state is State.READY,
            ready_changed_s=self.since_s,
            running=self.state is not State.PENDING,
            ending=not self.counts,
            usage_milli=usage_milli,
            sampled_s=sampled_s,
            sample_window_s=self._home.pace.scrape,
        )

    def _start(self) -> None:
        command = self.cgroup.entering(self._home.command(self._number))
        self._process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "nice", "-n", NICENESS, *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            env=ENVIRONMENT | {"NODE_PATH": str(tools.modules())},
        )  # fmt: skip
        ids = {CONTAINER: self.cgroup.container_id}
        owner = kube_pods.owner("ReplicaSet", f"{WORKLOAD}-6b7f9c5d8")
        labels = {"app": WORKLOAD, "pod-template-hash": "6b7f9c5d8"}
        pod = kube_pods.pod(
            self.cgroup.uid, self._home.namespace, self.name, owner, ids, labels
        )
        self._home.api.put(pod)

    def _learn_port(self) -> None:
        if select.select([self._process.stdout], [], [], 0)[0]:
            self.port = int(self._process.stdout.readline() or 0)

    def _answers(self) -> bool:
        """The readiness probe."""
        if not self.port:
            return False
        try:
            url = f"http://127.0.0.1:{self.port}/healthz"
            urllib.request.urlopen(url, timeout=PROBE_TIMEOUT_S).close()
            return True
        except OSError:
            return False

    def _await_end(self, now_s: float, for_s: float) -> None:
        if self._process.poll() is not None:
            self._bury(now_s)
        elif for_s >= self._home.pace.grace:
            self.kill(now_s)

    def _bury(self, now_s: float) -> None:
        self._process.stdout.close()
        self._home.api.remove(self.cgroup.uid)
        self.cgroup.remove()
        self._be_gone(now_s)

    def _be_gone(self, now_s: float) -> None:
        self._enter(State.GONE, now_s)
        self.ended_s = now_s

    def _enter(self, state: State, now_s: float) -> None:
        self.state = state
        self.since_s = now_s
