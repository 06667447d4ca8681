#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Grafana's dashboard: every panel finds what it is about, in a real Prometheus that scrapes a real
uvtap with real applications, in pods and outside of them."""

import json
import math
import sys
import unittest
import xml.etree.ElementTree as xml
from itertools import combinations

import yaml
from support import tier
from support.nodes import REPOSITORY

sys.path.append(str(REPOSITORY / "scripts" / "support"))
from dashboard import dashboard, inside, picture, scaling  # noqa: E402
from dashboard.live import (  # noqa: E402
    Prometheus, Series, all_panels, answers, filled_in, legend, offered, variables,
)  # fmt: skip
from dashboard.queries import CHOSEN  # noqa: E402
from dashboard.scene import CAST, NAMESPACE, Scene, obstacle  # noqa: E402

FILE = REPOSITORY / "daemonset" / "grafana" / "uvtap.json"
RECOMMENDED = REPOSITORY / "daemonset" / "keda" / "recommended.yaml"
COLUMNS = 24
UNITS = {"percentunit", "s", "short", "bytes", "ops"}  # as Grafana calls them
CHECKOUT = CAST[0]
# Long enough for two points of the forecast's subquery.
PLAY_S = 18
# Buckets count in whole numbers, each rounded by itself.
ROUNDED = 0.001

# Where there is nothing as long as nothing goes wrong.
EMPTY_WHEN_WELL = {"Probes that could not be attached"}
OF_WORKERS = {panel.title for panel in inside.WORKERS}


def document() -> dict:
    return json.loads(FILE.read_text())


def panels(*, kind: str | None = None) -> list[dict]:
    """Those that ask something."""
    asking = [each for each in all_panels(document()) if each["type"] != "row"]
    return [each for each in asking if kind in (None, each["type"])]


def panel(title: str) -> dict:
    (found,) = [each for each in panels() if each["title"] == title]
    return found


def query_of(title: str, name: str) -> str:
    """The query of that panel whose legend is `name`."""
    (found,) = [each["expr"] for each in panel(title)["targets"] if each["legendFormat"] == name]
    return found


def has_number(series: Series) -> bool:
    return any(math.isfinite(value) for _, value in series.points)


def cells(grid: dict) -> set[tuple[int, int]]:
    columns = range(grid["x"], grid["x"] + grid["w"])
    return {(x, y) for x in columns for y in range(grid["y"], grid["y"] + grid["h"])}


class File(unittest.TestCase):
    def test_it_is_what_the_generator_writes(self):
        self.assertEqual(FILE.read_text(), dashboard.text(), "scripts/dashboard write")

    def test_panels_are_numbered_once(self):
        numbers = [each["id"] for each in all_panels(document())]
        self.assertEqual(len(numbers), len(set(numbers)))

    def test_no_panel_covers_another(self):
        """Those of a closed row are among themselves."""
        closed = [each["panels"] for each in document()["panels"] if each.get("panels")]
        for group in (document()["panels"], *closed):
            for one, other in combinations(group, 2):
                shared = cells(one["gridPos"]) & cells(other["gridPos"])
                self.assertFalse(shared, (one["title"], other["title"]))
            for each in group:
                right = each["gridPos"]["x"] + each["gridPos"]["w"]
                self.assertLessEqual(right, COLUMNS, each["title"])

    def test_each_panel_tells_what_it_means(self):
        titles = [each["title"] for each in panels()]
        self.assertEqual(len(titles), len(set(titles)))
        for each in panels():
            with self.subTest(each["title"]):
                self.assertGreater(len(each["description"]), 30)

    def test_units(self):
        for each in panels():
            with self.subTest(each["title"]):
                is_map = each["type"] == "heatmap"
                at = each["options"]["yAxis"] if is_map else each["fieldConfig"]["defaults"]
                self.assertIn(at["unit"], UNITS)

    def test_thresholds_rise(self):
        for each in panels():
            steps = each["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", [])
            values = [step["value"] for step in steps]
            self.assertEqual(values[:1], [None] * bool(values))
            self.assertEqual(values[1:], sorted(values[1:]), each["title"])

    def test_no_data_source_but_the_variable(self):
        text = FILE.read_text()
        self.assertEqual(text.count('"type": "prometheus"'), text.count('"uid": "${datasource}"'))
        self.assertEqual(text.count('"datasource": {'), text.count('"uid": "${datasource}"'))

    def test_every_query_heeds_what_was_chosen(self):
        for each in panels():
            for target in each["targets"]:
                query = target["expr"]
                wanted = CHOSEN if "nodejs_" in query else ("cluster",)
                if not query.startswith("vector("):
                    unheeded = [name for name in wanted if f'{name}=~"${name}"' not in query]
                    self.assertEqual(unheeded, [], each["title"])

    def test_every_variable_is_known(self):
        known = variables(document()) | {"__rate_interval": "1m"}
        for each in panels():
            for target in each["targets"]:
                self.assertNotIn("$", filled_in(target["expr"], known), each["title"])


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene = cls.enterClassContext(Scene(scrape_s=1))
        cls.span = cls.scene.play(PLAY_S)
        cls.prometheus = Prometheus(cls.scene.prometheus.address)

    def ask(self, panel: dict, **chosen: str) -> list[list[Series]]:
        return answers(panel, variables(document(), chosen), self.span, self.prometheus)

    def value(self, title: str, name: str, **chosen: str) -> float:
        """The last value of the only series of one query of a panel."""
        names = [each["legendFormat"] for each in panel(title)["targets"]]
        (series,) = self.ask(panel(title), **chosen)[names.index(name)]
        return series.points[-1][1]

    def assert_finds(self, each: dict, **chosen: str):
        with self.subTest(each["title"], **chosen):
            for target, found in zip(each["targets"], self.ask(each, **chosen)):
                if each["title"] not in EMPTY_WHEN_WELL:
                    self.assertTrue(found, target["expr"])
                for series in found:
                    self.assertTrue(has_number(series), target["expr"])

    def test_every_query_finds_something(self):
        for each in panels():
            self.assert_finds(each)

    def test_one_workload(self):
        for each in panels():
            if each["title"] not in OF_WORKERS:
                self.assert_finds(each, namespace=NAMESPACE, workload="checkout")

    def test_one_workload_with_workers(self):
        for title in OF_WORKERS:
            self.assert_finds(panel(title), namespace=NAMESPACE, workload="thumbnails")

    def test_a_process_outside_kubernetes(self):
        for each in panels():
            if each["title"] not in OF_WORKERS:
                self.assert_finds(each, process=self.scene.clients)

    def test_what_there_is_to_choose_from(self):
        chosen = variables(document(), {"namespace": NAMESPACE})
        by_name = {each["name"]: each for each in document()["templating"]["list"]}

        def values(name: str) -> set[str]:
            return set(offered(by_name[name], chosen, self.prometheus))

        self.assertIn(NAMESPACE, values("namespace"))
        self.assertEqual(values("workload"), {each.workload.name for each in CAST})
        self.assertEqual(values("container"), {"app"})
        self.assertEqual(len(values("pod")), sum(each.pods for each in CAST))
        self.assertEqual(values("process"), set())

    def test_names_of_series(self):
        graph = panel("Utilization by application")
        (found,) = self.ask(graph)
        names = {legend(graph["targets"][0], series.labels) for series in found}
        for expected in (*(f"{each.workload.name} app" for each in CAST), self.scene.clients):
            self.assertIn(expected, names)

    def test_pods_and_loops_are_counted(self):
        for each in CAST:
            chosen = {"namespace": NAMESPACE, "workload": each.workload.name}
            self.assertEqual(self.value("Pods and loops", "pods", **chosen), each.pods)
        loops = self.value("Pods and loops", "main loops", namespace=NAMESPACE, workload="search")
        self.assertEqual(loops, 4)

    def test_saturated_applications(self):
        """The tile counts what the table shows."""
        target = float(variables(document())["target_utilization"])
        of_each = self.ask(panel("Utilization by application"))[0]
        saturated = [each for each in of_each if each.points[-1][1] > target]
        self.assertEqual(self.value("Saturated applications", ""), len(saturated))
        self.assertLess(len(saturated), len(of_each))

    def test_all_of_a_heat_map_is_in_some_bucket(self):
        for each in panels(kind="heatmap"):
            with self.subTest(each["title"]):
                (found,) = self.ask(each, namespace=NAMESPACE, workload="checkout")
                last = {series.labels["le"]: series.points[-1][1] for series in found}
                ordered = [last[limit] for limit in sorted(last, key=float)]
                for below, above in zip(ordered, ordered[1:]):
                    self.assertGreaterEqual(above, below - ROUNDED)
                self.assertAlmostEqual(last["+Inf"], 1)

    def test_shares_of_time_are_those_of_the_busy_time(self):
        chosen = {"namespace": NAMESPACE, "workload": "checkout"}
        causes = ("on CPU", "run queue", "blocked")
        parts = [self.value("Where time goes", cause, **chosen) for cause in causes]
        self.assertGreater(sum(parts), 0.05)
        self.assertLessEqual(sum(parts), 1.001)

    def test_wishes_are_those_of_the_scaled_object(self):
        """The dashboard's pods by signal, from the queries that KEDA runs."""
        triggers = yaml.safe_load(RECOMMENDED.read_text())["spec"]["triggers"]
        asked = {each["name"]: each["metadata"] for each in triggers}
        known = variables(document(), {"namespace": NAMESPACE, "workload": "checkout"})
        utilization, wait = (float(known[f"target_{name}"]) for name in ("utilization", "wait"))
        self.assertEqual(utilization, float(asked["utilization"]["threshold"]))
        self.assertEqual(wait, float(asked["wait"]["threshold"]))

        def wish(name: str) -> float:
            return self.now(filled_in(query_of(scaling.PANELS[-1].title, name), known))

        self.assertEqual(
            wish("by utilization"), math.ceil(self.now(asked["utilization"]["query"]) / utilization)
        )
        self.assertEqual(
            wish("by wait"), math.ceil(CHECKOUT.pods * self.now(asked["wait"]["query"]) / wait)
        )

    def now(self, promql: str) -> float:
        """At the end of what was played."""
        (found,) = self.prometheus.instant(promql, self.span.end_s)
        return found.points[0][1]

    def test_annotations(self):
        """Alerts are not loaded here: it can be asked, that is all."""
        (alerts,) = document()["annotations"]["list"]
        self.prometheus.instant(alerts["expr"], self.span.end_s)

    def test_the_picture_shows_every_panel(self):
        drawn = xml.fromstring(picture.picture(self.span, self.prometheus))
        words = {each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")}
        self.assertLessEqual({each["title"] for each in all_panels(document())}, words)


if __name__ == "__main__":
    if reason := obstacle():
        print(f"SKIPPED: test_dashboard.py: {reason}")
        sys.exit(tier.SKIPPED)
    unittest.main(verbosity=2)
