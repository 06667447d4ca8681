# SPDX-License-Identifier: Apache-2.0
"""One panel as Grafana 10 and later have it in their JSON."""

from dataclasses import dataclass
from string import ascii_uppercase as REFERENCES

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}

SHARE, SECONDS, COUNT, BYTES, PER_SECOND = "percentunit", "s", "short", "bytes", "ops"

GREEN, ORANGE, RED = "green", "orange", "red"
CALM = ((None, GREEN),)
BUSY = ((None, GREEN), (0.7, ORANGE), (0.85, RED))  # utilization: the article's presets
SLOW = ((None, GREEN), (0.05, ORANGE), (0.1, RED))  # wait
LATE = ((None, GREEN), (0.1, ORANGE), (0.25, RED))  # delay, 20 ms of it always there
STUCK = ((None, GREEN), (1, ORANGE), (10, RED))  # stall; the alert is at 10 s
STARVED = ((None, GREEN), (0.05, ORANGE), (0.1, RED))  # run queue; the alert is at 10 %
TROUBLE = ((None, GREEN), (1, RED))
DOUBT = ((None, GREEN), (1, ORANGE))

Steps = tuple[tuple[float | None, str], ...]


@dataclass(frozen=True)
class Query:
    expression: str
    legend: str = ""
    color: str = ""  # by hand, where it has a meaning
    dashed: bool = False  # what is wished for, not measured


@dataclass(frozen=True)
class Panel:
    """`description` says what it means and what to do about it."""

    title: str
    description: str
    queries: tuple[Query, ...]
    unit: str = COUNT
    width: int = 8  # of 24
    height: int = 8
    steps: Steps = CALM

    def json(self) -> dict:
        return {
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "datasource": DATASOURCE,
            "targets": [self._target(*each) for each in zip(REFERENCES, self.queries)],
            "fieldConfig": {"defaults": self._defaults(), "overrides": self._overrides()},
            "options": self._options(),
        }

    kind = ""
    format = "time_series"
    instant = False

    def _target(self, ref: str, query: Query) -> dict:
        return {
            "refId": ref,
            "editorMode": "code",
            "expr": query.expression,
            "legendFormat": query.legend,
            "format": self.format,
            "instant": self.instant,
            "range": not self.instant,
        }

    def _defaults(self) -> dict:
        return {"unit": self.unit, "thresholds": thresholds(self.steps)}

    def _overrides(self) -> list[dict]:
        return []

    def _options(self) -> dict:
        return {}


def thresholds(steps: Steps) -> dict:
    return {
        "mode": "absolute",
        "steps": [{"value": value, "color": color} for value, color in steps],
    }


def override(name: str, properties: dict) -> dict:
    return {
        "matcher": {"id": "byName", "options": name},
        "properties": [{"id": key, "value": value} for key, value in properties.items()],
    }


@dataclass(frozen=True)
class Stat(Panel):
    """One number, its background coloured by the steps."""

    width: int = 4
    height: int = 4
    kind = "stat"
    instant = True

    def _defaults(self) -> dict:
        return super()._defaults() | {"color": {"mode": "thresholds"}, "noValue": "–"}

    def _options(self) -> dict:
        return {
            "colorMode": "background",
            "graphMode": "none",
            "justifyMode": "auto",
            "textMode": "value_and_name" if len(self.queries) > 1 else "value",
            "orientation": "auto",
            "wideLayout": True,
            "showPercentChange": False,
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        }


@dataclass(frozen=True)
class Graph(Panel):
    """Lines over time; steps other than CALM are dashed lines across."""

    stacked: bool = False
    highest: float | None = None
    decimals: int | None = None
    kind = "timeseries"

    def _defaults(self) -> dict:
        given = {"min": 0, "max": self.highest, "decimals": self.decimals}
        return {
            **super()._defaults(),
            **{key: value for key, value in given.items() if value is not None},
            "color": {"mode": "palette-classic"},
            "custom": {
                "drawStyle": "line",
                "lineInterpolation": "linear",
                "lineWidth": 1,
                "fillOpacity": 60 if self.stacked else 8,
                "showPoints": "never",
                "spanNulls": False,
                "stacking": {"mode": "normal" if self.stacked else "none", "group": "A"},
                "thresholdsStyle": {"mode": "off" if self.steps == CALM else "dashed"},
            },
        }

    def _overrides(self) -> list[dict]:
        return [override(each.legend, _look(each)) for each in self.queries if _look(each)]

    def _options(self) -> dict:
        return {
            "legend": {
                "displayMode": "table",
                "placement": "bottom",
                "showLegend": True,
                "calcs": ["lastNotNull", "max"],
                "sortBy": "Last *",
                "sortDesc": True,
            },
            "tooltip": {"mode": "multi", "sort": "desc"},
        }


def _look(query: Query) -> dict:
    look: dict = {}
    if query.color:
        look["color"] = {"mode": "fixed", "fixedColor": query.color}
    if query.dashed:
        look["custom.lineStyle"] = {"fill": "dash", "dash": [10, 10]}
        look["custom.fillOpacity"] = 0
    return look


@dataclass(frozen=True)
class HeatMap(Panel):
    """Of one query that returns cumulative shares by `le`."""

    unit: str = SECONDS  # of the buckets
    width: int = 12
    height: int = 9
    kind = "heatmap"
    format = "heatmap"

    def _defaults(self) -> dict:
        return {"custom": {"hideFrom": {"legend": False, "tooltip": False, "viz": False}}}

    def _options(self) -> dict:
        return {
            "calculate": False,
            "cellGap": 1,
            "cellValues": {"unit": SHARE},
            # Rare is what matters: the exponent lets 1 % be seen beside 99 %.
            "color": {
                "mode": "scheme", "scheme": "Oranges", "reverse": False, "steps": 64,
                "scale": "exponential", "exponent": 0.3, "fill": "dark-orange",
                "min": 0, "max": 1,
            },
            "filterValues": {"le": 0.0001},
            "rowsFrame": {"layout": "auto"},
            "yAxis": {"axisPlacement": "left", "reverse": False, "unit": self.unit},
            "legend": {"show": True},
            "tooltip": {"mode": "single", "show": True, "yHistogram": False},
        }  # fmt: skip
