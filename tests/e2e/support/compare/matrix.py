# SPDX-License-Identifier: Apache-2.0
"""Which applications are compared, and which of them run side by side."""

from dataclasses import dataclass
from itertools import zip_longest

from .. import nodes


@dataclass(frozen=True)
class Case:
    """One application under one load."""

    node: str
    load: str


LOADS = (
    "idle", "light-io", "mixed", "saturated", "gc-churn", "sync-files", "immediate-chain",
    "worker-busy",
)  # fmt: skip
# Beyond the matrix: loads for which Node's figure cannot be reproduced.
EXTRA_LOADS = ("timers", "spawn-sync")

# These keep a CPU busy; two of them at once would leave none for the daemons.
HEAVY = {"mixed", "saturated", "gc-churn", "immediate-chain", "worker-busy", "spawn-sync"}

# One of each kind of build, door and load, in a minute.
SHORT = (
    Case("22", "mixed"), Case("debian18", "light-io"),
    Case("26", "saturated"), Case("24-stripped", "sync-files"),
    Case("16", "mixed"), Case("20", "idle"),
    Case("24", "worker-busy"), Case("18", "idle"),
)  # fmt: skip


def priority(case: Case) -> int:
    """Real-time priority. Whatever shares the machine, a loop that mostly waits should not have to
    wait for a CPU as well: how late a wake is that never happened cannot be known from outside."""
    if case.load == "worker-busy":
        return 40
    return 10 if case.load in HEAVY else 45


def full(node_names: tuple[str, ...] = nodes.ALL, loads: tuple[str, ...] = LOADS) -> list[Case]:
    return [Case(name, load) for name in node_names for load in loads]


def batches(cases: list[Case], jobs: int) -> list[list[Case]]:
    """Puts together what may run side by side: one heavy load, and light ones beside it."""
    heavy = [case for case in cases if case.load in HEAVY]
    light = [case for case in cases if case.load not in HEAVY]
    beside = max(1, jobs - 1)
    light_groups = [light[i : i + beside] for i in range(0, len(light), beside)]
    if jobs == 1:
        return [[case] for case in cases]
    return [
        ([first] if first else []) + (others or [])
        for first, others in zip_longest(heavy, light_groups)
    ]
