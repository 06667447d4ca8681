# SPDX-License-Identifier: Apache-2.0
"""What KEDA acts on, as the ScaledObjects of daemonset/keda ask for it, against the targets."""

from .panels import SECONDS, SHARE, Graph, Query
from .queries import loops, selected

TITLE = "Scaling signals: choose one workload above"

_UTILIZATION = selected(loops("utilization"))
_DEMAND = f"sum({_UTILIZATION})"
_PODS = f"count({_UTILIZATION})"
_WAITS = selected(loops("wait_p95_seconds"))
_DELAY = f"avg({selected(loops('delay_p95_seconds'))})"

# As in daemonset/keda/recommended.yaml and predictive.yaml; of the latter without the recording rules.
_BY_UTILIZATION = f"ceil({_DEMAND} / $target_utilization)"
_BY_WAIT = f"ceil({_PODS} * avg(clamp_max({_WAITS}, 4 * $target_wait)) / $target_wait)"
_FORECAST = (
    f"clamp(\n  predict_linear({_DEMAND}[3m:15s], 90),\n"
    f"  scalar({_DEMAND}),\n  3 * scalar({_DEMAND})\n)"
)


def _against(target: str, *measured: Query) -> tuple[Query, ...]:
    return (*measured, Query(f"vector({target})", "target", "red", dashed=True))


PANELS = (
    Graph(
        "Utilization against its target",
        "Mean of the pods. The autoscaler does nothing within 10 % of the target; above that it asks "
        "for more pods, however low the CPU is.",
        _against("$target_utilization", Query(f"avg({_UTILIZATION})", "mean of pods")),
        unit=SHARE,
        highest=1,
    ),
    Graph(
        "Wait p95 against its target",
        "Mean of the pods' p95. Above the target while utilization is low: single callbacks are too "
        "long, and more pods will not bring it down.",
        _against("$target_wait", Query(f"avg({_WAITS})", "mean of pods")),
        unit=SECONDS,
    ),
    Graph(
        "Delay p95 against its target",
        "Mean of the pods' p95, as the article's trigger has it. 20 ms of it are there even when idle.",
        _against("$target_delay", Query(_DELAY, "mean of pods")),
        unit=SECONDS,
    ),
    Graph(
        "Demand of the fleet",
        "Utilization summed over the pods: how many pods would be busy all the time. Scaling itself "
        "hardly changes it, so it can be forecast. Above the dashed line (pods × target) the fleet "
        "is too small.",
        (
            Query(_DEMAND, "demand", "blue"),
            Query(_FORECAST, "forecast for in one minute", "purple"),
            Query(f"{_PODS} * $target_utilization", "pods × target", "red", dashed=True),
        ),
        width=12,
        decimals=1,
    ),
    Graph(
        "Pods: observed, and asked for by each signal",
        "The largest wish wins, within the limits of the ScaledObject. A wish above the pods for long: "
        "the maximum is reached, pods do not get ready, or KEDA does not see what you see here "
        "(`kubectl describe hpa`). A wish below them: the autoscaler waits for five calm minutes.",
        (
            Query(_PODS, "pods observed", "text"),
            Query(_BY_UTILIZATION, "by utilization", "blue"),
            Query(_BY_WAIT, "by wait", "orange"),
            Query(f"ceil({_FORECAST} / $target_utilization)", "by forecast", "purple"),
        ),
        width=12,
        decimals=0,
    ),
)
