# SPDX-License-Identifier: Apache-2.0
"""Makes daemonset/grafana/uvtap.json, and draws it.

    queries.py      PromQL that several panels share
    panels.py       one panel as Grafana's JSON has it; tables.py: the table
    fleet.py …      the rows, each in a file of its own
    dashboard.py    variables, rows, and where each panel stands
    live.py         asks Prometheus what Grafana would ask
    scene.py        applications that give the dashboard something to show
    drawing/        panels as SVG
    picture.py      the scene as the dashboard shows it
"""
