# SPDX-License-Identifier: Apache-2.0
"""Asks Prometheus what Grafana would ask for the dashboard."""

import json
import re
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import Any, Iterator

TIMEOUT_S = 10
ALL = "$__all"

# What Grafana takes for the name of a variable; others it leaves alone.
_VARIABLE = re.compile(r"\$(\w+)|\$\{(\w+)\}")
_LABEL_VALUES = re.compile(r"label_values\((?P<selector>.*), (?P<label>\w+)\)")


class Refused(Exception):
    """What Prometheus said of a query, and the query."""


@dataclass(frozen=True)
class Series:
    """Points are (moment, value)."""

    labels: dict[str, str]
    points: list[tuple[float, float]]


@dataclass(frozen=True)
class Span:
    """What the time picker and the width of a panel come to, in seconds."""

    begin_s: float
    end_s: float
    step_s: float
    scrape_s: float = 15

    def variables(self) -> dict[str, str]:
        """As Grafana computes them."""
        rate_s = max(self.step_s + self.scrape_s, 4 * self.scrape_s)
        return {
            "__interval": f"{self.step_s:g}s", "__rate_interval": f"{rate_s:g}s",
            "__range": f"{self.end_s - self.begin_s:.0f}s",
        }  # fmt: skip


class Prometheus:
    """One that runs already."""

    def __init__(self, address: str):
        self._address = address.rstrip("/")

    def instant(self, promql: str, at_s: float) -> list[Series]:
        found = self._get("query", query=promql, time=f"{at_s:.3f}")["result"]
        return [Series(each["metric"], [_point(each["value"])]) for each in found]

    def over_time(self, promql: str, span: Span) -> list[Series]:
        found = self._get(
            "query_range", query=promql, start=f"{span.begin_s:.3f}", end=f"{span.end_s:.3f}",
            step=f"{span.step_s:g}",
        )["result"]  # fmt: skip
        return [Series(each["metric"], [*map(_point, each["values"])]) for each in found]

    def label_values(self, selector: str, label: str) -> list[str]:
        return self._get(f"label/{label}/values", **{"match[]": selector})

    def _get(self, endpoint: str, **parameters: str) -> Any:
        url = f"{self._address}/api/v1/{endpoint}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as error:
            said = json.loads(error.read())["error"]
            raise Refused(f"{said}\nasked: {parameters}") from error


def _point(pair: list) -> tuple[float, float]:
    return float(pair[0]), float(pair[1])


def all_panels(dashboard: dict) -> Iterator[dict]:
    """Rows too, and what is in those that are closed."""
    for panel in dashboard["panels"]:
        yield panel
        yield from panel.get("panels", [])


def variables(dashboard: dict, chosen: dict[str, str] | None = None) -> dict[str, str]:
    """What each stands for in a query: what it is at first, or what was chosen."""
    values = {"datasource": "prometheus"}
    for each in dashboard["templating"]["list"]:
        if "current" in each:
            value = each["current"]["value"]
            values[each["name"]] = each["allValue"] if value == [ALL] else value
    return values | (chosen or {})


def filled_in(text: str, values: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda found: values.get(found[1] or found[2], found[0]), text)


def offered(variable: dict, values: dict[str, str], prometheus: Prometheus) -> list[str]:
    """The values from which a person can choose."""
    asked = _LABEL_VALUES.fullmatch(filled_in(variable["query"]["query"], values))
    return prometheus.label_values(asked["selector"], asked["label"])


def answers(
    panel: dict, values: dict[str, str], span: Span, prometheus: Prometheus
) -> list[list[Series]]:
    """Of each query of the panel. Refused if Prometheus does not like one."""
    known = values | span.variables()
    queries = ((filled_in(each["expr"], known), each["instant"]) for each in panel["targets"])
    return [
        prometheus.instant(text, span.end_s) if instant else prometheus.over_time(text, span)
        for text, instant in queries
    ]


def legend(target: dict, labels: dict[str, str]) -> str:
    """The name of a series, as Grafana makes it."""
    name = re.sub(r"\{\{(\w+)\}\}", lambda found: labels.get(found[1], ""), target["legendFormat"])
    return " ".join(name.split())
