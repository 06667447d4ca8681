# SPDX-License-Identifier: Apache-2.0
"""The dashboard: its variables, its rows, and where each panel stands."""

import json
from typing import Iterable

from . import fleet, health, inside, pods, scaling, workload
from .panels import DATASOURCE, Panel
from .queries import CHOSEN

COLUMNS = 24
# Rows that are closed at first ask nothing of Prometheus until they are opened.
ROWS = (
    (fleet.TITLE, fleet.PANELS, False),
    (workload.TITLE, workload.PANELS, False),
    (scaling.TITLE, scaling.PANELS, False),
    (pods.TITLE, pods.PANELS, False),
    (inside.LOOPS_TITLE, inside.LOOPS, True),
    (inside.WORKERS_TITLE, inside.WORKERS, True),
    (health.TITLE, health.PANELS, True),
)


def text() -> str:
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def document() -> dict:
    return {
        "uid": "uvtap",
        "title": "Node.js event loops (uvtap)",
        "description": "Made by scripts/dashboard; docs/dashboard.md shows it.",
        "tags": ["nodejs", "uvtap"],
        "schemaVersion": 38,  # Grafana 10
        "version": 1,
        "editable": True,
        "graphTooltip": 1,  # one cross-hair in all panels
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "timepicker": {},
        "timezone": "",
        "links": [],
        "annotations": {"list": [_alerts()]},
        "templating": {"list": _variables()},
        "panels": _placed(),
    }


def _alerts() -> dict:
    return {
        "name": "Alerts",
        "enable": True,
        "hide": False,
        "iconColor": "red",
        "datasource": DATASOURCE,
        "expr": 'ALERTS{alertname=~"Nodejs.*|Uvtap.*",alertstate="firing"}',
        "titleFormat": "{{alertname}}",
        "textFormat": "{{namespace}} {{workload}} {{pod}} {{instance}}",
        "step": "60s",
    }


def _variables() -> list[dict]:
    """Each narrows those after it. `All` also selects what has no such label."""
    variables = [_datasource()]
    for index, name in enumerate(CHOSEN):
        before = ",".join(f'{each}=~"${each}"' for each in CHOSEN[:index])
        of = f"nodejs_eventloop_loops{{{before}}}" if before else "nodejs_eventloop_loops"
        variables.append(_label(name, f"label_values({of}, {name})"))
    return variables + [
        _target("target_utilization", "Target: utilization", ("0.7", "0.5", "0.85")),
        _target("target_wait", "wait (s)", ("0.1", "0.05", "0.25")),
        _target("target_delay", "delay (s)", ("0.1", "0.05", "0.25")),
    ]


def _datasource() -> dict:
    return {
        "name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus",
        "hide": 0, "includeAll": False, "multi": False, "refresh": 1, "regex": "",
    }  # fmt: skip


def _label(name: str, query: str) -> dict:
    return {
        "name": name, "label": name.capitalize(), "type": "query", "datasource": DATASOURCE,
        "definition": query, "query": {"query": query, "refId": f"values of {name}"},
        "hide": 0, "includeAll": True, "allValue": ".*", "multi": True, "refresh": 2, "sort": 1,
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]}, "options": [],
    }  # fmt: skip


def _target(name: str, title: str, values: tuple[str, ...]) -> dict:
    """The first is the one to begin with."""
    return {
        "name": name, "label": title, "type": "custom", "query": ",".join(values),
        "hide": 0, "includeAll": False, "multi": False,
        "current": {"selected": True, "text": values[0], "value": values[0]},
        "options": [
            {"text": each, "value": each, "selected": each == values[0]} for each in values
        ],
    }  # fmt: skip


def _placed() -> list[dict]:
    """All panels, each below or beside the one before; numbered in this order."""
    placed: list[dict] = []
    number, top = 1, 0
    for title, panels, closed in ROWS:
        inside, bottom = _flow(panels, number + 1, top + 1)
        placed.append(_row(title, number, top, inside if closed else None))
        if not closed:
            placed += inside
        number += len(inside) + 1
        # Below a closed row the next one follows at once.
        top = top + 1 if closed else bottom
    return placed


def _row(title: str, number: int, top: int, inside: list[dict] | None) -> dict:
    return {
        "id": number, "type": "row", "title": title, "collapsed": inside is not None,
        "gridPos": {"x": 0, "y": top, "w": COLUMNS, "h": 1}, "panels": inside or [],
    }  # fmt: skip


def _flow(panels: Iterable[Panel], number: int, top: int) -> tuple[list[dict], int]:
    """Left to right, then on. Returns the line below them too."""
    placed, left, line, bottom = [], 0, top, top
    for each in panels:
        if left + each.width > COLUMNS:
            left, line = 0, bottom
        grid = {"x": left, "y": line, "w": each.width, "h": each.height}
        placed.append({"id": number + len(placed), "gridPos": grid} | each.json())
        left, bottom = left + each.width, max(bottom, line + each.height)
    return placed, bottom
