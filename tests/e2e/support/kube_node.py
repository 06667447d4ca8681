# SPDX-License-Identifier: Apache-2.0
"""A Kubernetes node but for the kubelet: containers, an API server, the daemon in a container."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from .accounts import MAIN, WORKERS
from .contained_uvtap import Cluster, ContainedUvtap
from .containers import Containers, node_image
from .kube_api import KubeApi
from .metrics import Exposition
from .pod_apps import PodApp
from .pods import NAMESPACE, Pod
from .uvtap import PATIENCE


class KubeNode:
    """Use with `with`: nothing is left of it at the end."""

    def __init__(self):
        self._running = ExitStack()

    def __enter__(self) -> "KubeNode":
        self.containers: Containers = self._running.enter_context(Containers())
        self.api: KubeApi = self._running.enter_context(KubeApi())
        self.logs = Path(self._running.enter_context(TemporaryDirectory()))
        return self

    def __exit__(self, *_) -> None:
        self._running.close()

    def start_uvtap(self, capabilities: tuple[str, ...], *arguments: str) -> ContainedUvtap:
        cluster = Cluster(self.logs, self.api)
        uvtap = ContainedUvtap(self.containers, capabilities, cluster, arguments)
        self.uvtap: ContainedUvtap = self._running.enter_context(uvtap)
        return self.uvtap

    def app(self, pod: Pod, node: str, *arguments, **named) -> PodApp:
        """A container of that build of Node.js in this pod; the API server does not know it yet."""
        return PodApp(self.containers, pod, node_image(node), *arguments, **named)

    def announce(self, *apps: PodApp) -> None:
        """From now on the API server knows their containers' ids."""
        for app in apps:
            self.api.put(app.pod.as_api_says())

    def await_loops(self, app: PodApp, count: int) -> Exposition:
        """Until it has so many main loops."""
        return self.uvtap.await_that(
            lambda said: said.total(f"{MAIN}_loops", **app.labels()) == count,
            f"{app.pod.name} has {count} loops", 15 * PATIENCE,
        )  # fmt: skip

    def await_shown(self, *apps: PodApp) -> Exposition:
        """Until all their loops are, under the names that the API server knows."""

        def shown(said: Exposition) -> bool:
            return all(
                said.total(f"{MAIN}_loops", **app.labels()) == app.role.main_loops
                and said.total(f"{WORKERS}_loops", **app.labels()) == app.role.worker_loops
                for app in apps
            )

        return self.uvtap.await_that(shown, "all loops are there", 15 * PATIENCE)

    def await_looked(self) -> Exposition:
        """What the daemon says after a look that began after this call."""
        said = self.uvtap.scrape()
        for _ in range(2):
            before = _idle(said)
            said = self.uvtap.await_that(lambda now: _idle(now) != before, "it looks", 5 * PATIENCE)
        return said


def _idle(said: Exposition) -> list[float]:
    """This changes with each look."""
    samples = said.find(f"{MAIN}_time_seconds_total", nodejs_eventloop_state="idle")
    return [sample.value for sample in samples]


def shown_labels(said: Exposition) -> list[dict[str, str]]:
    """Of all sets of series that belong to pods of the test."""
    return [sample.labels for sample in said.find(f"{MAIN}_loops", namespace=NAMESPACE)]
