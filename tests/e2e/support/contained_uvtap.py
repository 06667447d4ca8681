# SPDX-License-Identifier: Apache-2.0
"""Runs the daemon in a container, as its DaemonSet does."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .containers import Container, Containers, Image, scratch
from .kube_api import KubeApi
from .nodes import REPOSITORY
from .oci import Mount, Process, Security
from .pods import NODE_NAME, SYSTEMD, Pod
from .uvtap import POLL_S, Uvtap, binary, free_port

MANIFESTS = REPOSITORY / "daemonset"


def _capabilities(manifest: str) -> tuple[str, ...]:
    (added,) = re.findall(r"add: \[([A-Z_, ]+)\]", (MANIFESTS / manifest).read_text())
    return tuple(added.split(", "))


EVERY_KERNEL = _capabilities("base/daemonset.yaml")
WITHOUT_SYS_ADMIN = _capabilities("components/least-privilege/kustomization.yaml")
MEMORY_BYTES = 128 << 20
CREDENTIALS = "/var/run/secrets/kubernetes.io/serviceaccount"
LOGS = "/var/log/containers"
# Where a sanitizer writes what it finds; set by scripts/sanitizers.
REPORTS = os.environ.get("UVTAP_SANITIZER_REPORTS")
SANITIZER_OPTIONS = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")


@dataclass(frozen=True)
class Cluster:
    """What Kubernetes gives the daemon beside its privileges."""

    logs: Path
    api: KubeApi | None = None

    def mounts(self) -> tuple[Mount, ...]:
        logs = (Mount(self.logs, LOGS),)
        return (*logs, Mount(self.api.credentials, CREDENTIALS)) if self.api else logs

    def environment(self) -> dict[str, str]:
        if not self.api:
            return {}
        return {
            "NODE_NAME": NODE_NAME,
            "KUBERNETES_SERVICE_HOST": self.api.host,
            "KUBERNETES_SERVICE_PORT": str(self.api.port),
        }


def sanitizer_environment() -> dict[str, str]:
    if not REPORTS:
        return {}
    return {name: os.environ[name] for name in SANITIZER_OPTIONS if name in os.environ}


def sanitizer_mounts() -> tuple[Mount, ...]:
    return (Mount(Path(REPORTS), REPORTS, writable=True),) if REPORTS else ()


def image() -> Image:
    """The folder that UVTAP_IMAGE names, else made as daemonset/Containerfile makes it, once."""
    if made := os.environ.get("UVTAP_IMAGE"):
        return Image((Path(made),))
    root = scratch("uvtap")
    if not (root / "usr").exists():
        collect = [REPOSITORY / "daemonset" / "collect-files", binary(), root]
        subprocess.run(collect, check=True, stdout=subprocess.DEVNULL)
    return Image((root,))


class ContainedUvtap(Uvtap):
    """Use with `with`, like Uvtap."""

    def __init__(
        self,
        containers: Containers,
        capabilities: tuple[str, ...],
        cluster: Cluster,
        arguments: tuple[str, ...] = (),
    ):
        self.door = "auto"
        self.port = free_port()
        self._containers = containers
        self._process = Process(
            arguments=("/usr/bin/uvtap", "serve", "--listen", f"127.0.0.1:{self.port}", *arguments),
            environment=cluster.environment() | sanitizer_environment(),
            mounts=cluster.mounts() + sanitizer_mounts(),
            security=Security(
                capabilities=capabilities,
                read_only_root=True,
                host_pid=True,
                may_gain_privileges=False,
                # A sanitizer needs several times as much.
                memory_bytes=None if REPORTS else MEMORY_BYTES,
            ),
        )
        self.container: Container | None = None

    def __enter__(self) -> "ContainedUvtap":
        pod = Pod("uvtap", cgroups=SYSTEMD)
        self.container = pod.start(self._containers, "uvtap", image(), self._process)
        self.await_ready()
        return self

    @property
    def pid(self) -> int:
        return self.container.pid

    def log(self) -> str:
        return self.container.log()

    def pause(self, seconds: float = POLL_S) -> None:
        if self.container.await_end(seconds):
            raise AssertionError(f"uvtap has ended:\n{self.log()[-2000:]}")

    def stop(self) -> int:
        self._containers.remove(self.container)
        return 0
