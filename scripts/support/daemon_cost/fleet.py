# SPDX-License-Identifier: Apache-2.0
"""Many small Node.js processes, each the container of a pod: every fifth works a little, the others
turn a few times a second (tests/programs/fleet.js)."""

import subprocess
from contextlib import ExitStack

from support import kube_pods
from support.kube_api import KubeApi
from support.nodes import ENVIRONMENT, node
from support.pod_cgroup import in_pod
from support.pods import deployment
from support.uvtap import Uvtap

NODE = "22"
NAMESPACE = "shop"
ONE_IN_SO_MANY_WORKS = 5
MEMORY_EACH_BYTES = 50e6


class Fleet:
    """Use with `with`: at the end nothing is left of it."""

    def __init__(self):
        self._running = ExitStack()
        self._pids: list[int] = []

    def __enter__(self) -> "Fleet":
        self._api = self._running.enter_context(KubeApi())
        return self

    def __exit__(self, *_) -> None:
        self._running.close()

    def grow_to(self, count: int) -> None:
        while len(self._pids) < count:
            works = len(self._pids) % ONE_IN_SO_MANY_WORKS == 0
            process = start("working" if works else "idle")
            process.stdout.readline()  # one after the other: together they would take all CPUs
            pod = in_pod(self._api, deployment("web-frontend"), process.pid, NAMESPACE)
            self._running.enter_context(pod)
            self._running.callback(end, process)
            self._pids.append(process.pid)

    def observer(self) -> Uvtap:
        """A daemon that knows the fleet's pods."""
        api = self._api
        place = f"KUBERNETES_SERVICE_HOST={api.host}", f"KUBERNETES_SERVICE_PORT={api.port}"
        arguments = (
            "--per-process=false", "--kubernetes=api", f"--node-name={kube_pods.NODE}",
            f"--kubernetes-credentials={api.credentials}",
        )  # fmt: skip
        return Uvtap(arguments=arguments, prefix=("env", *place))


def start(how: str) -> subprocess.Popen:
    command = ["setpriv", "--pdeathsig", "KILL", *node(NODE).command("fleet.js", how)]
    return subprocess.Popen(
        command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )


def end(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()
    process.stdout.close()
