# SPDX-License-Identifier: Apache-2.0
"""A stand-in for KEDA and the HorizontalPodAutoscaler: from a ScaledObject file and the answers of
Prometheus to a number of replicas.

    scaling = load(Path("daemonset/keda/recommended.yaml"))
    controller = Controller(scaling, Prometheus(address).values)
    decision = controller.tick(now_s, Fleet(wanted=2, existing=2, ready=2))   # None: not yet due

The parts, in the order in which a value travels:

    spec.py        what the file says, with the defaults of KEDA and the API server
    keda.py        from an answer of Prometheus to what the HPA is told: nulls, errors, fallback
    proposals.py   from one metric to a number of replicas
    limits.py      stabilization windows, policies, minimum and maximum
    hpa.py         the decision; holds all state of the HPA
    controller.py  time and HTTP

Everything but controller.py is free of both. The rules were read in KEDA 2.20 (pkg/scalers,
pkg/fallback, pkg/scaling) and Kubernetes since tolerances can be set (pkg/controller/podautoscaler); comments name the
function where it matters. What is left out:

- The API server, the metrics adapter and their delays; a decision is in effect at once.
- `scalingModifiers`, `useCachedMetrics`, paused and forced ScaledObjects, scalers other than
  `prometheus` and `cpu`: a file that asks for them is refused.
- KEDA's own poll next to the HPA's: for a fleet that is not at zero it changes nothing but the
  count of failures (since KEDA 2.19 both count, so that a fallback acts up to twice as early).
- Pod-level and container-level CPU requests, init containers, and pods that have failed.
- Which pod is ended when the fleet shrinks.
"""

from .controller import SYNC_S, Controller, Prometheus
from .hpa import Decision, Fleet, Hpa
from .proposals import CpuPod
from .spec import Scaling, load, parse

__all__ = [
    "Controller", "CpuPod", "Decision", "Fleet", "Hpa", "Prometheus", "SYNC_S", "Scaling", "load",
    "parse",
]  # fmt: skip
