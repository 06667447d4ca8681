# SPDX-License-Identifier: Apache-2.0
"""Applications in pods, uvtap, and a real Prometheus with the shipped scrape job and rules."""

import re
import tempfile
from contextlib import ExitStack
from pathlib import Path

import yaml

from . import kube_pods, promql_docs
from .apps import App
from .kube_api import KubeApi
from .load import SHAPES, Clients
from .nodes import node
from .pod_cgroup import in_pod
from .pods import deployment
from .prometheus import RULES, Prometheus, with_static_discovery
from .uvtap import Uvtap

NODE = "22"
NAMESPACE = "shop"
FLEET = "nodejs-app"  # the workload of two pods, busy and idle
WITH_WORKER = "images"  # the workload of a pod whose Worker is busy
WINDOW_S = 5
RULE_FILES = ("rules.yaml", "alerts.yaml")


class WatchedPods:
    """Two Deployments, and a process outside of all pods. Use with `with`. Prometheus scrapes and
    evaluates once a second."""

    def __init__(self):
        self._running = ExitStack()

    def __enter__(self) -> "WatchedPods":
        with ExitStack() as undo:
            undo.push(self._running)
            self._api = self._enter(KubeApi())
            self.fleet = [self._app(load, FLEET) for load in ("mixed", "idle")]
            self._app("worker-busy", WITH_WORKER)
            self._app("idle")
            self.uvtap: Uvtap = self._enter(_uvtap(self._api))
            folder = Path(self._enter(tempfile.TemporaryDirectory()))
            rules = _rules_each_second(folder)
            self.prometheus: Prometheus = self._enter(
                Prometheus([_scrape_job(self.uvtap.port)], rules)
            )
            undo.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._running.close()

    def _enter(self, what):
        return self._running.enter_context(what)

    def _app(self, load: str, workload: str = "") -> App:
        app = self._enter(App(node(NODE), load))
        if load in SHAPES:
            self._enter(Clients(app.port, SHAPES[load]))
        if workload:
            self._enter(in_pod(self._api, deployment(workload), app.pid, NAMESPACE))
        return app


def _uvtap(api: KubeApi) -> Uvtap:
    place = (f"NODE_NAME={kube_pods.NODE}", f"KUBERNETES_SERVICE_HOST={api.host}")
    return Uvtap(
        window_s=WINDOW_S,
        prefix=("env", *place, f"KUBERNETES_SERVICE_PORT={api.port}"),
        arguments=(
            "--per-process=false",
            "--kubernetes", "api", "--kubernetes-credentials", str(api.credentials),
        ),
    )  # fmt: skip


def _rules_each_second(folder: Path) -> list[Path]:
    """Copies of the shipped rules that are evaluated once a second."""
    for name in RULE_FILES:
        text = (RULES / name).read_text()
        (folder / name).write_text(re.sub(r"interval: 15s", "interval: 1s", text))
    return [folder / name for name in RULE_FILES]


def _scrape_job(port: int) -> dict:
    """The shipped one, with the relabelings that the documentation has for two needs."""
    (job,) = yaml.safe_load((RULES / "scrape.yaml").read_text())["scrape_configs"]
    del job["scrape_interval"]
    (without_kubernetes,) = promql_docs.yaml_block("prometheus.md")["scrape_configs"]
    relabelings = [
        *without_kubernetes["metric_relabel_configs"],
        *promql_docs.yaml_block("drop-in.md")["metric_relabel_configs"],
    ]
    return with_static_discovery(job, port) | {"metric_relabel_configs": relabelings}
