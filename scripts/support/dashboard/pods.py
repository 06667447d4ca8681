# SPDX-License-Identifier: Apache-2.0
"""Each pod: is it all of them, or one?"""

from .panels import BUSY, SECONDS, SHARE, SLOW, STARVED, STUCK, Graph, Query
from .queries import POD, RANGE, active_share_by_pod, by_pod, loops, selected
from .tables import Column, Table

TITLE = "Pods (processes outside Kubernetes)"


def _gauge(name: str) -> tuple[Query, ...]:
    return (Query(by_pod("max", selected(loops(name))), POD),)


PANELS = (
    Graph(
        "Utilization by pod",
        "One line far above the others: uneven load, or a pod with a job of its own.",
        _gauge("utilization"),
        unit=SHARE,
        steps=BUSY,
        highest=1,
    ),
    Graph(
        "Wait p95 by pod",
        "A single pod that is slow: see the two panels below for whether it is its node.",
        _gauge("wait_p95_seconds"),
        unit=SECONDS,
        steps=SLOW,
    ),
    Graph(
        "Stall by pod",
        "Age of the callback in progress, the worst since the point before. A pod whose line rises "
        "without end is lost: profile it, then restart it.",
        (
            Query(
                by_pod("max", f"max_over_time({selected(loops('stall_seconds'))}[{RANGE}])"), POD
            ),
        ),
        unit=SECONDS,
        steps=STUCK,
    ),
    Graph(
        "Run queue by pod",
        "Share of all time in which the loop had work and no CPU. All pods: the CPU limit. Those of "
        "one node: that node is too full.",
        (Query(active_share_by_pod("runqueue"), POD),),
        unit=SHARE,
        steps=STARVED,
    ),
    Graph(
        "Blocked by pod",
        "Share of all time in a synchronous call, a lock or a page fault. Invisible to every CPU "
        "graph. Look for …Sync calls, Atomics.wait, a slow disk, memory that is swapped or evicted.",
        (Query(active_share_by_pod("blocked"), POD),),
        unit=SHARE,
    ),
    Table(
        "Node.js versions",
        "Containers that run each. Different versions in one workload: a roll-out is under way, or "
        "has stopped half-way.",
        columns=(
            Column(
                "Containers",
                f"count by (node_version, libuv_version) ({selected('nodejs_runtime_info')})",
            ),
        ),
        labels=(("node_version", "Node.js"), ("libuv_version", "libuv")),
        sorted_by="Containers",
    ),
)  # fmt: skip
