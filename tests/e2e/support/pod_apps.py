# SPDX-License-Identifier: Apache-2.0
"""Runs tests/programs/pod_app.js in a container, and asks it for the truth."""

import json
from dataclasses import dataclass

from .containers import Container, Containers, Image
from .nodes import PROGRAMS
from .oci import Mount, Process, Security
from .pods import Pod


@dataclass(frozen=True)
class Work:
    """Chains of turns, each turn busy for a while, with pauses between chains."""

    chains: int
    links: int
    spin_ms: float
    pause_ms: float

    def order(self) -> dict:
        return {
            "chains": self.chains, "links": self.links,
            "spinMs": self.spin_ms, "pauseMs": self.pause_ms,
        }  # fmt: skip


@dataclass(frozen=True)
class LoopTruth:
    """What one loop says of itself since it began."""

    active_s: float
    turns: int | None  # None: this Node.js does not tell
    chained: int  # turns that it has made for certain


@dataclass(frozen=True)
class Role:
    """`others`: processes of a cluster or Worker threads, beside the first loop."""

    name: str = "alone"
    others: int = 0

    @property
    def loops(self) -> int:
        return 1 + self.others

    @property
    def main_loops(self) -> int:
        return 1 if self.name == "workers" else 1 + self.others

    @property
    def worker_loops(self) -> int:
        return self.others if self.name == "workers" else 0


class PodApp:
    """One container of a pod. Quiet between questions."""

    def __init__(
        self,
        containers: Containers,
        pod: Pod,
        image: Image,
        role: Role = Role(),
        security: Security = Security(),
        before: str = "",
        name: str = "app",
    ):
        """`before`: a command of busybox, run in the container before Node.js starts."""
        self.pod = pod
        self.name = name
        self.role = role
        command = f"exec {image.node} /app/pod_app.js {role.name} {role.others}"
        script = f"/bin/busybox {before} && {command}" if before else command
        process = Process(
            ("/bin/busybox", "sh", "-c", script), mounts=(Mount(PROGRAMS, "/app"),),
            security=security,
        )  # fmt: skip
        self.container: Container = pod.start(containers, name, image, process)
        self.container.read()

    def labels(self) -> dict[str, str]:
        return self.pod.labels(self.name)

    def labels_by_id(self) -> dict[str, str]:
        """While no source knows the pod."""
        return dict.fromkeys(self.labels(), "") | {"container": self.container.id}

    def truth(self) -> list[LoopTruth]:
        """Of every loop: main loops first, those of Workers after them."""
        return [
            LoopTruth(loop["active_ms"] / 1e3, loop["turns"], loop["chained"])
            for loop in self.container.ask("truth")["loops"]
        ]

    def do(self, kinds: list[Work]) -> None:
        """One kind for each loop, in the order of `truth`. Returns when all is done."""
        self.container.ask(f"work {json.dumps([each.order() for each in kinds])}")

    def end_one(self) -> None:
        self.container.ask("endOne")

    def call_itself(self, title: str) -> None:
        self.container.ask(f"title {json.dumps(title)}")

    def nest(self, name: str) -> dict:
        """Moves into cgroups of that name below its own; `moved` says in which hierarchies."""
        return self.container.ask(f"nest {json.dumps(name)}")
