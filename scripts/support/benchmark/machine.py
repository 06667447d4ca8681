# SPDX-License-Identifier: Apache-2.0
"""What all lanes share: one node with uvtap, and the Prometheus and the load balancer beside it."""

import tempfile
from contextlib import ExitStack
from pathlib import Path

from support import kube_pods
from support.kube_api import KubeApi
from support.prometheus import RULES, Prometheus, static_scrape
from support.uvtap import Uvtap

from .balancer import Balancer
from .cgroups import remove_family
from .pace import Pace
from .scenarios import Scenario

SCRAPE_TIMEOUT_S = 10  # Prometheus's default


class Machine:
    """Use with `with`: nothing is left of it at the end."""

    def __init__(self, scenarios: list[Scenario], pace: Pace):
        self.pace = pace
        self._scenarios = scenarios
        self._running = ExitStack()

    def __enter__(self) -> "Machine":
        with ExitStack() as running:
            folder = tempfile.TemporaryDirectory(prefix="uvtap-benchmark-")
            self.folder = Path(running.enter_context(folder))
            running.callback(remove_family)
            self.api: KubeApi = running.enter_context(KubeApi())
            lanes = [each.namespace for each in self._scenarios]
            self.balancer: Balancer = running.enter_context(Balancer(lanes))
            self.uvtap: Uvtap = running.enter_context(self._uvtap())
            self.prometheus: Prometheus = running.enter_context(self._prometheus())
            self._running = running.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._running.close()

    def targets(self, scenario: Scenario) -> Path:
        """Where a lane says which pods there are."""
        return self.folder / f"{scenario.namespace}.json"

    def _uvtap(self) -> Uvtap:
        environment = (
            "env", f"NODE_NAME={kube_pods.NODE}", f"KUBERNETES_SERVICE_HOST={self.api.host}",
            f"KUBERNETES_SERVICE_PORT={self.api.port}",
        )  # fmt: skip
        credentials = ("--kubernetes-credentials", str(self.api.credentials))
        arguments = ("--kubernetes", "api", *credentials, "--per-process=false")
        return Uvtap(window_s=self.pace.scrape, arguments=arguments, prefix=environment)

    def _prometheus(self) -> Prometheus:
        own = [self._in_process(each) for each in self._scenarios if each.in_process]
        relabeled = [self._drop_in(each) for each in self._scenarios if not each.in_process]
        uvtap = static_scrape(self.uvtap.port, metric_relabel_configs=relabeled)
        rules = [RULES / "rules.yaml"]
        return Prometheus([uvtap, *own], rules, interval=f"{self.pace.scrape}s")

    def _in_process(self, scenario: Scenario) -> dict:
        """Scrapes the pods themselves."""
        files = {"files": [str(self.targets(scenario))], "refresh_interval": "1s"}
        return {
            "job_name": scenario.namespace,
            "scrape_timeout": f"{min(self.pace.scrape, SCRAPE_TIMEOUT_S)}s",
            "file_sd_configs": [files],
        }

    def _drop_in(self, scenario: Scenario) -> dict:
        """docs/drop-in.md: queries that were made for the pods' own metrics find uvtap's."""
        return {
            "source_labels": ["namespace"], "regex": scenario.namespace, "target_label": "job",
            "replacement": scenario.namespace,
        }  # fmt: skip
