# SPDX-License-Identifier: Apache-2.0
"""uvtap itself: may the rows above be believed?"""

from .panels import BYTES, PER_SECOND, SHARE, TROUBLE, Graph, Query
from .queries import CLUSTER, RANGE

TITLE = "uvtap itself"

_NODE = "cluster, job, instance"
_OF_UVTAP = f"* on ({_NODE}) group_left () uvtap_build_info{{{CLUSTER}}}"


def _own(metric: str) -> str:
    """Of the processes that are uvtap: every exporter has metrics of these names."""
    return f"{metric}\n{_OF_UVTAP}"


PANELS = (
    Graph(
        "Nodes",
        "uvtaps that answer, and those that do not although they have observed something within the "
        "last 6 hours. Their pods are missing above, and what scales on them stands still.",
        (
            Query(f"count(uvtap_build_info{{{CLUSTER}}})", "answering", "green"),
            Query(
                f"count(\n  up{{{CLUSTER}}} == 0\n  and on ({_NODE})\n"
                f'  max_over_time(uvtap_processes{{{CLUSTER},state="observed"}}[6h]) > 0\n'
                ") or vector(0)",
                "not answering", "red",
            ),
        ),
        decimals=0,
    ),
    Graph(
        "Processes",
        "Node.js processes of all nodes. Waiting: attached to, no loop seen yet; for seconds that is "
        "normal. Unsupported: uses libuv and cannot be observed; `uvtap check` says why.",
        (Query(f"sum by (state) (uvtap_processes{{{CLUSTER}}})", "{{state}}"),),
        decimals=0,
    ),
    Graph(
        "Where the names of pods come from",
        "Nodes by source: api is right in Kubernetes. files: no permission or no API server, and no "
        "workload to scale on. none or off: outside Kubernetes.",
        (
            Query(f"sum by (source) (uvtap_kubernetes_source{{{CLUSTER}}})", "{{source}}"),
            Query(f"sum(uvtap_identity_unresolved{{{CLUSTER}}})", "processes without a pod", "red"),
        ),
        decimals=0,
    ),
    Graph(
        "Probes that could not be attached",
        "By reason, within the range of one point. Those processes are not observed; each is tried "
        "again. Empty when none ever failed.",
        (
            Query(
                f"sum by (reason) (increase(uvtap_attach_failures_total{{{CLUSTER}}}[{RANGE}]))",
                "{{reason}}",
            ),
        ),
        steps=TROUBLE,
    ),
    Graph(
        "Hits that could not be used",
        "By reason, in a second. docs/metrics.md tells what each means; loops_full and threads_full: "
        "raise --max-loops. Single ones are harmless.",
        (
            Query(f"sum by (reason) (rate(uvtap_lost_total{{{CLUSTER}}}[{RANGE}]))", "{{reason}}"),
        ),
        unit=PER_SECOND,
    ),
    Graph(
        "Failed requests to the API server",
        "By reason, within the range of one point. Forbidden: the ClusterRole is missing. Empty when "
        "none ever failed, and outside Kubernetes.",
        (
            Query(
                "sum by (reason) (\n"
                f"  increase(uvtap_kubernetes_watch_errors_total{{{CLUSTER}}}[{RANGE}])\n)",
                "{{reason}}",
            ),
        ),
    ),
    Graph(
        "What the probes cost the applications",
        "Hits times the cost of one, as measured on each node at start: CPUs' worth of time, taken "
        "from all applications of the node together. 0.01 is 1 % of one CPU.",
        (
            Query(
                f"sum by ({_NODE}) (\n"
                f"  rate(uvtap_probe_hits_total{{{CLUSTER}}}[{RANGE}])\n"
                f"  * uvtap_probe_cost_seconds{{{CLUSTER}}}\n)",
                "{{instance}}",
            ),
        ),
        unit=SHARE,
    ),
    Graph(
        "CPU of uvtap by node",
        "1 is one CPU. It grows with the number of loops and with their turns.",
        (Query(_own(f"rate(process_cpu_seconds_total{{{CLUSTER}}}[{RANGE}])"), "{{instance}}"),),
        unit=SHARE,
    ),
    Graph(
        "Memory of uvtap by node",
        "Resident. Compare with the limit of the DaemonSet.",
        (Query(_own(f"process_resident_memory_bytes{{{CLUSTER}}}"), "{{instance}}"),),
        unit=BYTES,
    ),
)  # fmt: skip
