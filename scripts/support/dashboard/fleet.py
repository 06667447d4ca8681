# SPDX-License-Identifier: Apache-2.0
"""The first row: is anything wrong anywhere, and where?"""

from .panels import (
    BUSY, DOUBT, LATE, SECONDS, SHARE, SLOW, STARVED, STUCK, TROUBLE, Graph, Query, Stat,
)  # fmt: skip
from .queries import APPLICATION, CLUSTER, active_share, by_application, loops, selected
from .tables import Column, Table

TITLE = "Fleet"

_NOT_OBSERVED = (
    f'sum(uvtap_processes{{{CLUSTER},state!="observed"}})\n'
    f"+ sum(uvtap_identity_unresolved{{{CLUSTER}}})"
)


def _share(cause: str) -> str:
    active = by_application("sum", loops("active_seconds_total"), f'cause="{cause}"', rated=True)
    time = by_application("sum", loops("time_seconds_total"), rated=True)
    return f"({active})\n/ ({time})"


PANELS = (
    Stat(
        "Event loops",
        "Loops observed now: main loops, and Worker threads. A drop that no deployment explains "
        "means that uvtap is missing on a node: see the last row.",
        (
            Query(f"sum({selected(loops('loops'))})", "main"),
            Query(f"sum({selected(loops('loops', worker=True))}) or vector(0)", "Worker"),
        ),
    ),
    Stat(
        "Saturated applications",
        "Applications whose main loops are, on average over all pods, active for more of the time "
        "than the target at the top. They have no reserve: add pods, or see in the table where "
        "their time goes.",
        (
            Query(
                f"count((\n{by_application('avg', loops('utilization'))}\n"
                ") > $target_utilization) or vector(0)"
            ),
        ),
        steps=TROUBLE,
    ),
    Stat(
        "Longest stall now",
        "Age of the oldest callback in progress in any main loop. Its process answers nobody until "
        "it returns. From 10 s on there is an alert.",
        (Query(f"max({selected(loops('stall_seconds'))})"),),
        unit=SECONDS,
        steps=STUCK,
    ),
    Stat(
        "Worst wait p95",
        "Of the pod that makes events wait longest: one of twenty events that arrive waits for at "
        "least so long until its loop turns to it. Clients feel it on top of the work itself.",
        (Query(f"max({selected(loops('wait_p95_seconds'))})"),),
        unit=SECONDS,
        steps=SLOW,
    ),
    Stat(
        "Waiting for a CPU",
        "Share of all time in which a main loop had work to do and no CPU to do it on: a CPU limit, "
        "or a node that is too full. More pods on the same nodes make it worse.",
        (Query(active_share("runqueue")),),
        unit=SHARE,
        steps=STARVED,
    ),
    Stat(
        "Processes not observed",
        "Node.js processes that are missing in all the other panels, or without the name of their "
        "pod. `uvtap check` on the node tells why; the last row tells on which.",
        (Query(_NOT_OBSERVED),),
        steps=DOUBT,
    ),
    Table(
        "Applications, the busiest first",
        "One line for each workload and container; where the workload is not known, for each pod, "
        "or each process outside Kubernetes. Busy and on CPU: add pods. Busy and run queue: more "
        "CPU. Busy and blocked: look for synchronous calls. Times are those of the worst pod.",
        width=24,
        height=9,
        columns=(
            Column("Pods", by_application("count", loops("utilization"))),
            Column(
                "Utilization", by_application("avg", loops("utilization")), SHARE, BUSY, decimals=0
            ),
            Column(
                "Busiest loop", by_application("max", loops("utilization_max")), SHARE, BUSY,
                decimals=0,
            ),
            Column("Wait p95", by_application("max", loops("wait_p95_seconds")), SECONDS, SLOW),
            Column("Delay p95", by_application("max", loops("delay_p95_seconds")), SECONDS, LATE),
            Column("Stall", by_application("max", loops("stall_seconds")), SECONDS, STUCK),
            Column("On CPU", _share("cpu"), SHARE, decimals=0),
            Column("Run queue", _share("runqueue"), SHARE, STARVED, decimals=0),
            Column("Blocked", _share("blocked"), SHARE, decimals=0),
        ),
        labels=(
            ("namespace", "Namespace"), ("workload", "Workload"), ("pod", "Pod"),
            ("process", "Process"), ("container", "Container"),
        ),
        hidden=("cluster", "workload_kind"),
        sorted_by="Utilization",
    ),
    Graph(
        "Utilization by application",
        "Share of time in which the main loops are active, mean of all pods. From 70 % on add pods; "
        "near 100 % requests queue, and no other signal tells by how much.",
        (Query(by_application("avg", loops("utilization")), APPLICATION),),
        unit=SHARE,
        width=12,
        steps=BUSY,
        highest=1,
    ),
    Graph(
        "Wait p95 by application",
        "Of the worst pod of each: how long one of twenty arriving events waits at least. High at "
        "low utilization: few but long callbacks, which more pods do not shorten.",
        (Query(by_application("max", loops("wait_p95_seconds")), APPLICATION),),
        unit=SECONDS,
        width=12,
        steps=SLOW,
    ),
)  # fmt: skip
