# SPDX-License-Identifier: Apache-2.0
"""Pods as the kubelet would make them: names, cgroups, log files, what the API server says."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from . import kube_pods
from .containers import Container, Containers, Image
from .oci import Process

NODE_NAME = kube_pods.NODE
NAMESPACE = f"uvtap-test-{secrets.token_hex(3)}"
_TEMPLATE_HASH = "6b7f9c5d8"

# What runtimes and cgroup drivers call the cgroup of a container: {uid} and {id} are the pod's and
# the container's, {uid_} is what the systemd driver makes of the pod's.
_SLICE = "kubepods-burstable-pod{uid_}.slice"
_SLICES = f"/kubepods.slice/kubepods-burstable.slice/{_SLICE}"
CGROUPFS = "/kubepods/burstable/pod{uid}/{id}"
CGROUPFS_GUARANTEED = "/kubepods/pod{uid}/{id}"
SYSTEMD = _SLICES + "/cri-containerd-{id}.scope"
CRI_O = _SLICES + "/crio-{id}.scope"
DOCKER = _SLICES + "/docker-{id}.scope"
COLONS = f"/system.slice/containerd.service/{_SLICE}:cri-containerd:{{id}}"


@dataclass(frozen=True)
class Workload:
    """The controller a person named, and how a pod of it refers to it."""

    kind: str = ""
    name: str = ""
    owner: dict | None = None
    labels: dict[str, str] = field(default_factory=dict)


def deployment(name: str) -> Workload:
    owner = kube_pods.owner("ReplicaSet", f"{name}-{_TEMPLATE_HASH}")
    return Workload("Deployment", name, owner, {"pod-template-hash": _TEMPLATE_HASH})


def cron_job(name: str) -> Workload:
    return Workload("CronJob", name, kube_pods.owner("Job", f"{name}-29471040"))


def controlled_by(kind: str, name: str) -> Workload:
    return Workload(kind, name, kube_pods.owner(kind, name))


@dataclass
class Pod:
    name: str
    workload: Workload = Workload()
    cgroups: str = CGROUPFS
    uid: str = field(default_factory=lambda: str(uuid4()))
    containers: dict[str, Container] = field(default_factory=dict)

    def start(self, containers: Containers, name: str, image: Image, process: Process) -> Container:
        """Starts a container of this pod, in place of the one that had its name."""
        cgroup = self.cgroups.replace("{uid}", self.uid)
        cgroup = cgroup.replace("{uid_}", self.uid.replace("-", "_"))
        self.containers[name] = containers.start(image, cgroup, process)
        return self.containers[name]

    def as_api_says(self, with_ids: bool = True) -> dict:
        """Without ids: as it is at first, when its containers run already."""
        ids = {name: each.id if with_ids else "" for name, each in self.containers.items()}
        return kube_pods.pod(
            self.uid, NAMESPACE, self.name, self.workload.owner, ids,
            labels={"app": self.name, **self.workload.labels},
        )  # fmt: skip

    def write_logs(self, folder: Path) -> None:
        """What the kubelet puts into /var/log/containers, as far as names go."""
        for name, container in self.containers.items():
            (folder / f"{self.name}_{NAMESPACE}_{name}-{container.id}.log").touch()

    def labels(self, container: str) -> dict[str, str]:
        """What the series of a container of this pod are to carry."""
        return {
            "namespace": NAMESPACE, "pod": self.name, "container": container,
            "workload_kind": self.workload.kind, "workload": self.workload.name, "process": "",
        }  # fmt: skip

    def labels_by_log(self, container: str) -> dict[str, str]:
        """When they come from the name of its log file, which tells of no workload."""
        return self.labels(container) | {"workload_kind": "", "workload": ""}
