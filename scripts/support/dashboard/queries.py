# SPDX-License-Identifier: Apache-2.0
"""PromQL that several panels share. Names that begin with $ are Grafana's to fill in."""

CLUSTER = 'cluster=~"$cluster"'
CHOSEN = ("cluster", "namespace", "workload", "container", "pod", "process")  # labels, variables
SELECTED = ",".join(f'{each}=~"${each}"' for each in CHOSEN)
RANGE = "$__rate_interval"

# What makes an application: the containers of one name in all pods of a workload. Where there is no
# workload (names from log files, or outside Kubernetes) each pod or process stands for itself.
_OF_WORKLOAD = "cluster, namespace, workload_kind, workload, container"
_OF_POD = "cluster, namespace, pod, container, process"

# Labels that are missing print as nothing.
APPLICATION = "{{workload}} {{pod}} {{process}} {{container}}"
POD = "{{pod}} {{process}} {{container}}"


def loops(name: str, worker: bool = False) -> str:
    """The name of a metric of main loops, or of Workers."""
    return f"nodejs_worker_eventloop_{name}" if worker else f"nodejs_eventloop_{name}"


def selected(name: str, *matchers: str) -> str:
    return f"{name}{{{','.join((SELECTED, *matchers))}}}"


def rate(name: str, *matchers: str) -> str:
    return f"rate({selected(name, *matchers)}[{RANGE}])"


def by_application(aggregation: str, name: str, *matchers: str, rated: bool = False) -> str:
    """One series for each application."""
    of = rate if rated else selected
    named = of(name, *matchers, 'workload!=""')
    unnamed = of(name, *matchers, 'workload=""')
    return (
        f"{aggregation} by ({_OF_WORKLOAD}) ({named})\n"
        f"or {aggregation} by ({_OF_POD}) ({unnamed})"
    )


def by_pod(aggregation: str, expression: str) -> str:
    """One series for each container of each pod, or each process outside Kubernetes."""
    return f"{aggregation} by ({_OF_POD}) ({expression})"


def quantile(q: float, histogram: str) -> str:
    """Of all that is selected: the quantile of the merged histograms. While nothing is counted
    there is none, rather than NaN."""
    return f"histogram_quantile({q}, sum by (le) ({rate(f'{histogram}_bucket')})) >= 0"


def share_by_bucket(histogram: str) -> str:
    """For a heat map: which share of all samples is in each bucket or below."""
    counted = rate(f"{histogram}_count")
    return (
        f"sum by (le) ({rate(f'{histogram}_bucket')})\n"
        f"/ ignoring (le) group_left sum({counted})"
    )


def active_share(cause: str, worker: bool = False) -> str:
    """Of all time of all loops selected: the share that went there."""
    active = rate(loops("active_seconds_total", worker), f'cause="{cause}"')
    time = rate(loops("time_seconds_total", worker))
    return f"sum({active})\n/ sum({time})"


def active_share_by_pod(cause: str) -> str:
    active = rate(loops("active_seconds_total"), f'cause="{cause}"')
    time = rate(loops("time_seconds_total"))
    return f"{by_pod('sum', active)}\n/ {by_pod('sum', time)}"
