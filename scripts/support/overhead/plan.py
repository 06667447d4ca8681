# SPDX-License-Identifier: Apache-2.0
"""What is measured: each workload on each Node.js build, under each variant."""

from dataclasses import dataclass
from fnmatch import fnmatch

NODES = ("22", "26")


@dataclass(frozen=True)
class Clients:
    """Connections that ask again as soon as they are answered."""

    protocol: str  # http or echo
    connections: int


@dataclass(frozen=True)
class Workload:
    """One load of workloads.js. `slices`: how long a slice is, as a multiple of --slice.
    `turns_fast`: so often that a probe may cost more than the governor's budget."""

    name: str
    title: str
    unit: str
    clients: Clients | None = None
    slices: float = 1.0
    turns_fast: bool = False

    @property
    def is_idle(self) -> bool:
        """It does nothing, so what observation costs is no ratio but a share of a CPU."""
        return self.unit == "second"


@dataclass(frozen=True)
class Variant:
    """One way to observe. `door`: of uvtap; `arguments`: more of them for it."""

    name: str
    title: str
    door: str = ""
    arguments: tuple[str, ...] = ()


WORKLOADS = (
    Workload(
        "hello-1", "HTTP hello world, 1 connection", "request", Clients("http", 1), turns_fast=True
    ),
    Workload("hello-16", "HTTP hello world, 16 connections", "request", Clients("http", 16)),
    Workload("hello-256", "HTTP hello world, 256 connections", "request", Clients("http", 256)),
    Workload("article", "100 ms of work per request", "request", Clients("http", 4), slices=2.5),
    Workload(
        "ping-pong", "TCP ping-pong, 1 connection", "message", Clients("echo", 1), turns_fast=True
    ),
    Workload("timers", "timers only", "firing"),
    Workload("immediates", "setImmediate storm", "turn", turns_fast=True),
    Workload("workers", "four busy Workers", "turn"),
    Workload("idle", "idle", "second", slices=2.5),
)

EXPORTER = Variant("exporter", "prom-client in the process")
PEER = Variant("peer", "bpftrace, entries and exits")
VARIANTS = (
    Variant("auto", "uvtap, auto", "auto"),
    Variant("io_poll", "uvtap, io_poll", "io_poll"),
    Variant("tracepoint", "uvtap, tracepoint", "tracepoint"),
    Variant("epoll", "uvtap, epoll", "epoll"),
    Variant("memory", "uvtap, memory", "memory"),
    EXPORTER,
    PEER,
)
AUTO = VARIANTS[0]


@dataclass(frozen=True)
class Cell:
    """One application, and the variants it is measured under."""

    node: str
    workload: Workload
    variants: tuple[Variant, ...]

    @property
    def name(self) -> str:
        return f"{self.workload.name}/{self.node}"

    def has_to_settle(self, variant: Variant) -> bool:
        """The governor may choose another door once it knows what this one costs."""
        return variant is AUTO and self.workload.turns_fast


def cells(patterns: list[str]) -> list[Cell]:
    """Those that match one of the patterns WORKLOAD/NODE/VARIANT; all if there is none."""
    found = []
    for node in NODES:
        for workload in WORKLOADS:
            variants = tuple(
                each for each in VARIANTS if _wanted(patterns, workload.name, node, each.name)
            )
            if variants:
                found.append(Cell(node, workload, variants))
    return found


SHORT = ("hello-16/22/auto", "hello-16/22/exporter", "hello-16/22/peer", "idle/22/memory")


def _wanted(patterns: list[str], *names: str) -> bool:
    return not patterns or any(_matches(pattern, names) for pattern in patterns)


def _matches(pattern: str, names: tuple[str, ...]) -> bool:
    """What a pattern leaves out at its end may be anything."""
    parts = pattern.split("/")
    return len(parts) <= len(names) and all(map(fnmatch, names, parts))
