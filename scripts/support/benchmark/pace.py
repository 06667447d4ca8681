# SPDX-License-Identifier: Apache-2.0
"""How long things take in the cluster that the benchmark stands for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """Seconds. With the defaults a pod is ready 30 s after it was asked for."""

    scrape: int = 15  # also uvtap's window, how often rules are evaluated, and metrics-server
    sync: int = 15  # of the HPA
    container: float = 10  # from being asked for until its process starts: scheduled, image pulled
    readiness: float = 20  # from there until its readiness probe passes
    unlisted: float = 5  # from being out of the load balancer until SIGTERM: a preStop hook
    grace: float = 30  # from SIGTERM until SIGKILL


REAL = Pace()
