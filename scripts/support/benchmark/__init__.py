# SPDX-License-Identifier: Apache-2.0
"""What scripts/benchmark-scaling is made of.

    workloads.py   what the users do, and what a request costs
    scenarios.py   which file scales, and who measures
    machine.py     what all lanes share: API server, uvtap, Prometheus, load balancer
    lane.py        one scenario: users, a deployment and its controller
    deployment.py, pod.py, cgroups.py, cpu_meter.py, pace.py   what Kubernetes does
    users.py       the load
    run.py         the lanes of a workload, side by side
    witness.py     how busy the pods really are, whatever the controller is told
    outcome.py     the figures of a lane
    report.py      the Markdown; plots.py and svg.py: the pictures

The lanes of a workload run side by side, at the real pace: scrapes, syncs and windows are not
shortened.
"""
