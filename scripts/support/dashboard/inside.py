# SPDX-License-Identifier: Apache-2.0
"""Inside the pods: their loops and turns, and the Worker threads."""

from .panels import BUSY, PER_SECOND, SECONDS, SHARE, SLOW, Graph, HeatMap, Query
from .queries import POD, by_pod, loops, quantile, rate, selected, share_by_bucket
from .workload import split

LOOPS_TITLE = "Loops: what happens inside a pod"
WORKERS_TITLE = "Workers: loops of Worker threads, apart from main loops"

LOOPS = (
    Graph(
        "Main loops by pod",
        "More than one: cluster, PM2, or several Node.js processes in one container.",
        (Query(by_pod("sum", selected(loops("loops"))), POD),),
        decimals=0,
    ),
    Graph(
        "Busiest loop above the mean",
        "Within each pod: how much busier its busiest loop is than all its loops together. 0 with "
        "one loop. High: a cluster that shares its connections unevenly, or a primary process that "
        "does more than distribute them.",
        (
            Query(
                by_pod("max", selected(loops("utilization_max")))
                + "\n- "
                + by_pod("max", selected(loops("utilization"))),
                POD,
            ),
        ),
        unit=SHARE,
        highest=1,
    ),
    Graph(
        "Turns by pod",
        "Turns of the loops in a second. Under load a healthy loop makes thousands; a few a second at "
        "high utilization are long callbacks.",
        (Query(by_pod("sum", rate(loops("turns_total"))), POD),),
        unit=PER_SECOND,
    ),
    HeatMap(
        "Length of turns: share of turns",
        "Each cell: which share of the turns was busy for so long. Under load whole bands move up: "
        "many callbacks in one turn, which wait for each other.",
        (Query(share_by_bucket(loops("turn_seconds")), "{{le}}"),),
    ),
    Graph(
        "Mean length of a turn by pod",
        "Busy time for each turn. It is the least time that an event waits which arrives at the "
        "beginning of one.",
        (
            Query(
                by_pod("sum", rate(loops("turn_seconds_sum")))
                + "\n/ ("
                + by_pod("sum", rate(loops("turn_seconds_count")))
                + " > 0)",
                POD,
            ),
        ),
        unit=SECONDS,
        width=12,
        height=9,
    ),
)

WORKERS = (
    Graph(
        "Worker utilization by pod",
        "All Workers of the pod together. A pool at 100 % is what it is for, as long as nothing "
        "waits for it too long; scale on nodejs_worker_eventloop_utilization if something does.",
        (Query(by_pod("max", selected(loops("utilization", worker=True))), POD),),
        unit=SHARE,
        steps=BUSY,
        highest=1,
    ),
    Graph(
        "Busiest Worker by pod",
        "Far above the panel to the left: the work is not spread over the pool.",
        (Query(by_pod("max", selected(loops("utilization_max", worker=True))), POD),),
        unit=SHARE,
        steps=BUSY,
        highest=1,
    ),
    Graph(
        "Workers by pod",
        "Worker threads with a loop. A line that only climbs: Workers are started and never ended.",
        (Query(by_pod("sum", selected(loops("loops", worker=True))), POD),),
        decimals=0,
    ),
    Graph(
        "Wait of Workers",
        "How long a message to a Worker waits until its loop turns to it, of all Workers selected.",
        tuple(
            Query(quantile(q / 100, loops("wait_seconds", worker=True)), f"p{q}")
            for q in (50, 95, 99)
        ),
        unit=SECONDS,
        steps=SLOW,
    ),
    Graph(
        "Where the time of Workers goes",
        "As for main loops. Run queue here often explains run queue there: Workers compete with "
        "the main loop of their own pod for the CPUs of its limit.",
        split(worker=True),
        unit=SHARE,
        stacked=True,
        highest=1,
    ),
    Graph(
        "Stall of Workers by pod",
        "Age of the job in progress. A Worker that computes for long is no fault by itself.",
        (Query(by_pod("max", selected(loops("stall_seconds", worker=True))), POD),),
        unit=SECONDS,
    ),
)
