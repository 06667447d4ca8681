# SPDX-License-Identifier: Apache-2.0
"""All pods selected, together. Meant for one workload, chosen above."""

from .panels import BUSY, LATE, SECONDS, SHARE, SLOW, STUCK, Graph, HeatMap, Query
from .queries import (
    RANGE, active_share, loops, quantile, selected, share_by_bucket,
)  # fmt: skip

TITLE = "Workload: all that is selected above, together"

# By cause: blue for what more pods help, orange for a shortage, purple for a call that waits.
_CAUSES = (
    ("on CPU", "cpu", "blue"), ("run queue", "runqueue", "orange"), ("blocked", "blocked", "purple"),
)  # fmt: skip


def split(worker: bool = False) -> tuple[Query, ...]:
    """Where active time goes, as shares of all time, to be stacked."""
    return tuple(Query(active_share(cause, worker), name, color) for name, cause, color in _CAUSES)


def _percentiles(histogram: str) -> tuple[Query, ...]:
    return tuple(Query(quantile(q / 100, histogram), f"p{q}") for q in (50, 95, 99))


PANELS = (
    Graph(
        "Utilization",
        "Mean of the pods, and the busiest single loop of all. Far apart: the load is not spread "
        "evenly, and more pods help only if the balancer uses them.",
        (
            Query(f"avg({selected(loops('utilization'))})", "mean of pods"),
            Query(f"max({selected(loops('utilization_max'))})", "busiest loop"),
        ),
        unit=SHARE,
        steps=BUSY,
        highest=1,
    ),
    Graph(
        "Wait",
        "How long an event that arrives waits until the loop turns to it; of all pods together. 0 "
        "while idle. This is what clients feel, and what to scale on for latency. Turns in progress "
        "count when they end: for a loop that is stuck now, see Stalls.",
        _percentiles(loops("wait_seconds")),
        unit=SECONDS,
        steps=SLOW,
    ),
    Graph(
        "Delay",
        "What Node's own monitorEventLoopDelay reports, of all pods together; 20 ms of it are there "
        "even when idle. For thresholds that were made for it.",
        _percentiles(loops("delay_seconds")),
        unit=SECONDS,
        steps=LATE,
    ),
    HeatMap(
        "Wait: share of arrivals",
        "Each cell: which share of the events that arrived then waited for so long. A dark bottom "
        "line is a healthy fleet. A second band higher up is one kind of callback that is slow; "
        "colour that climbs as load grows is queuing.",
        (Query(share_by_bucket(loops("wait_seconds")), "{{le}}"),),
    ),
    HeatMap(
        "Delay: share of samples",
        "The same of Node's delay. The healthy band is at 20 ms. A long stall is one sample here "
        "however long it lasts, and so hardly shows: the map of the wait is the more honest one.",
        (Query(share_by_bucket(loops("delay_seconds")), "{{le}}"),),
    ),
    Graph(
        "Where time goes",
        "Share of all time, by what the loops did while active; the rest is idle. On CPU: they "
        "compute, more pods help. Run queue: no CPU was free, raise the limit or move away. Blocked: "
        "a synchronous call, a lock or a page fault; find it, more pods only hide it.",
        split(),
        unit=SHARE,
        stacked=True,
        highest=1,
    ),
    Graph(
        "Stalls",
        "Age of the longest callback in progress, the worst since the point before. Sawteeth: a long "
        "job in the main loop, again and again. A line that rises for good: an endless loop; take a "
        "CPU profile before you restart the pod.",
        (Query(f"max(max_over_time({selected(loops('stall_seconds'))}[{RANGE}]))", "longest"),),
        unit=SECONDS,
        steps=STUCK,
    ),
    Graph(
        "Pods and loops",
        "Containers with a main loop, main loops, and turns of them in a second. More loops than "
        "pods: cluster or PM2. Fewer turns at more load: each turn has become longer.",
        (
            Query(f"count({selected(loops('utilization'))})", "pods"),
            Query(f"sum({selected(loops('loops'))})", "main loops"),
        ),
        decimals=0,
    ),
)
