# SPDX-License-Identifier: Apache-2.0
"""A small shop on one node, so that the dashboard has something to show: pods of four workloads, an
API server that knows them, uvtap, and a Prometheus that scrapes it."""

import json
import subprocess
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from support import kube_pods, pods, prometheus, tier
from support.kube_api import KubeApi
from support.nodes import ENVIRONMENT, node
from support.pod_cgroup import in_pod
from support.pods import Workload
from support.uvtap import Uvtap

from .live import Span

NODE = "22"
NAMESPACE = "shop"
POINTS = 75  # of a curve
WARM_UP_S = 20.0  # a window of uvtap, and some scrapes
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Role:
    """What scene_app.js knows by the name of the workload, and the load of each of its pods."""

    workload: Workload
    pods: int
    users: int
    pause_ms: int


CAST = (
    Role(pods.deployment("checkout"), 3, 5, 90),
    Role(pods.deployment("search"), 1, 10, 60),
    Role(pods.deployment("thumbnails"), 1, 3, 150),
    Role(pods.controlled_by("StatefulSet", "reports"), 2, 1, 50),
)
# One of the reports takes three seconds, now and then.
LARGE_REPORT = {"users": 1, "pauseMs": 25000, "path": "/large", "steady": True}


def obstacle() -> str | None:
    """Why it cannot be played here; None if it can."""
    if prometheus.missing():
        return "no Prometheus: scripts/fetch-prometheus"
    return tier.obstacle((NODE,))


class Scene:
    """Use with `with`. Everybody is there then, and quiet."""

    def __init__(self, scrape_s: int):
        self.scrape_s = scrape_s
        self._running = ExitStack()
        self._loads: list[dict] = []

    def __enter__(self) -> "Scene":
        with ExitStack() as undo:
            undo.push(self._running)
            enter = self._running.enter_context
            api = enter(KubeApi())
            for role in CAST:
                for _ in range(role.pods):
                    self._start(role, api)
            self._loads.append({"port": self._loads[-1]["port"], **LARGE_REPORT})
            self.uvtap = enter(_uvtap(api))
            scrape = prometheus.static_scrape(self.uvtap.port, {"instance": kube_pods.NODE})
            interval = f"{self.scrape_s}s"
            self.prometheus = enter(prometheus.Prometheus([scrape], interval=interval))
            undo.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._running.close()

    def play(self, seconds: float) -> Span:
        """Lets the load rise and begin to fall, in that time and some before it. What it was."""
        duration_s = seconds + WARM_UP_S
        loads = json.dumps(self._loads)
        self._clients = self._node_js("scene_clients.js", str(1.3 * duration_s), loads)
        self.uvtap.pause(duration_s)
        now_s = time.time()
        return Span(now_s - seconds, now_s, max(seconds / POINTS, self.scrape_s), self.scrape_s)

    @property
    def clients(self) -> str:
        """How uvtap calls the process of the clients, which is in no container."""
        return f"scene_clients.js/{self._clients.pid}"

    def _start(self, role: Role, api: KubeApi) -> None:
        app = self._node_js("scene_app.js", role.workload.name)
        self._running.enter_context(in_pod(api, role.workload, app.pid, NAMESPACE))
        app.stdin.write("go\n")
        app.stdin.flush()
        port = json.loads(app.stdout.readline())["port"]
        self._loads.append({"port": port, "users": role.users, "pauseMs": role.pause_ms})

    def _node_js(self, program: str, *arguments: str) -> subprocess.Popen:
        app = self._running.enter_context(
            subprocess.Popen(
                [node(NODE).binary, HERE / program, *arguments], env=ENVIRONMENT, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )
        )  # fmt: skip
        self._running.callback(app.kill)
        return app


def _uvtap(api: KubeApi) -> Uvtap:
    place = f"KUBERNETES_SERVICE_HOST={api.host}", f"KUBERNETES_SERVICE_PORT={api.port}"
    arguments = (
        "--per-process=false", "--kubernetes=api", f"--node-name={kube_pods.NODE}",
        f"--kubernetes-credentials={api.credentials}",
    )  # fmt: skip
    return Uvtap(arguments=arguments, prefix=("env", *place))
