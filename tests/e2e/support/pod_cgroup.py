# SPDX-License-Identifier: Apache-2.0
"""Makes a running process look like one of a pod: its cgroup, and what the API server says."""

import secrets
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Iterator
from uuid import uuid4

from . import kube_pods
from .kube_api import KubeApi
from .pods import Workload

CONTAINER = "app"
# Where a cgroup can be made without further settings: hybrid and version 1, version 2.
HIERARCHIES = ("/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")


@contextmanager
def in_pod(api: KubeApi, workload: Workload, pid: int, namespace: str) -> Iterator[str]:
    """While it lasts, the process is the container `app` of a pod of that workload. Yields the
    pod's name. To be entered before uvtap looks at the process."""
    uid, container_id = str(uuid4()), secrets.token_hex(32)
    hierarchy = next(each for each in map(Path, HIERARCHIES) if (each / "cgroup.procs").exists())
    folder = hierarchy / "kubepods" / "burstable" / f"pod{uid}" / container_id
    folder.mkdir(parents=True)
    name = f"{workload.name}-{uid[:5]}"
    containers = {CONTAINER: container_id}
    try:
        (folder / "cgroup.procs").write_text(str(pid))
        api.put(kube_pods.pod(uid, namespace, name, workload.owner, containers, workload.labels))
        yield name
    finally:
        _remove(folder, hierarchy)


def _remove(folder: Path, hierarchy: Path) -> None:
    for pid in (folder / "cgroup.procs").read_text().split():
        with suppress(ProcessLookupError):
            (hierarchy / "cgroup.procs").write_text(pid)
    with suppress(OSError):  # other pods are there
        while folder != hierarchy:
            folder.rmdir()
            folder = folder.parent
