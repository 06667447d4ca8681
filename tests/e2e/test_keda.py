#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of daemonset/keda/: as KEDA's schema wants them, without the traps that docs/scaling.md
names, and with sense when pods or uvtap are in trouble. Needs no privilege and no cluster. That their
queries return the right value is for test_scaling.py."""

import copy
import re
import sys
import unittest
from pathlib import Path

import yaml
from support import manifests, tier
from support.manifests import DAEMONSET, schema_errors
from support.scaler import Fleet, Hpa, load

FOLDER = DAEMONSET / "keda"
FILES = sorted(FOLDER.rglob("*.yaml"))
RECOMMENDED = FOLDER / "recommended.yaml"

# The rows of the article's two tables: utilization from conservative to aggressive, delay from
# latency-critical to relaxed.
ARTICLE_ROWS = {
    "latency-critical": (0.5, 0.05),
    "standard": (0.7, 0.1),
    "relaxed": (0.85, 0.25),
}
ARTICLE_QUERIES = {
    'avg(nodejs_eventloop_delay_p95_seconds{job="nodejs-app"})': 0.1,
    'avg(nodejs_eventloop_utilization{job="nodejs-app"})': 0.7,
}


def objects(file: Path) -> tuple[dict, ...]:
    return tuple(yaml.safe_load_all(file.read_text()))


def scaled_object(file: Path) -> dict:
    (found,) = [each for each in objects(file) if each["kind"] == "ScaledObject"]
    return found


def triggers(file: Path) -> list[dict]:
    return scaled_object(file)["spec"]["triggers"]


def without_numbers(file: Path) -> dict:
    """The ScaledObject with every number of its queries and thresholds blotted out."""
    blotted = scaled_object(file)
    for trigger in blotted["spec"]["triggers"]:
        metadata = trigger["metadata"]
        metadata["threshold"] = "N"
        metadata["query"] = re.sub(r"\b\d+\.\d+\b", "N", metadata["query"])
    return blotted


class Schemas(unittest.TestCase):
    def test_files(self):
        """All at once: the schemas take long to read."""
        self.assertEqual(schema_errors(sum(map(objects, FILES), ())), [])

    def test_errors_are_found(self):
        """Also those that KEDA would take without a word, or answer with a crash at run time."""
        broken = copy.deepcopy(scaled_object(RECOMMENDED))
        spec = broken["spec"]
        spec["fallback"]["behaviour"] = "currentReplicas"
        spec["minReplicaCount"] = "2"
        spec["triggers"][0]["metadata"]["threshold"] = 0.7
        scale_up = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]["scaleUp"]
        scale_up["policies"][0]["period"] = 30
        del spec["scaleTargetRef"]
        errors = "\n".join(schema_errors((broken,)))
        found = ("behaviour", "minReplicaCount", "metadata/threshold", '"period"', "scaleTargetRef")
        for word in found:
            self.assertIn(word, errors)


class Traps(unittest.TestCase):
    """docs/scaling.md has the reports of those whom they caught."""

    def each_trigger(self):
        for file in FILES:
            for trigger in triggers(file):
                with self.subTest(file=file.name, trigger=trigger["name"]):
                    yield trigger

    def test_no_data_is_not_zero(self):
        for trigger in self.each_trigger():
            self.assertEqual(trigger["metadata"]["ignoreNullValues"], "false")

    def test_metric_types_fit_their_queries(self):
        """A sum is divided by the threshold, an average is compared with it."""
        for trigger in self.each_trigger():
            query = trigger["metadata"]["query"]
            kind = {"AverageValue": r"sum\(|clamp\(\s*sum\(", "Value": r"avg\("}
            self.assertRegex(query, f"^({kind[trigger['metricType']]})")

    def test_a_level_has_a_bound(self):
        """Wait has no upper end; its factor is bounded where one pod could have none."""
        for trigger in self.each_trigger():
            metadata = trigger["metadata"]
            if bound := re.search(r"_wait_.*, ([\d.]+)\)\)", metadata["query"], re.DOTALL):
                self.assertAlmostEqual(float(bound[1]), 4 * float(metadata["threshold"]))
            else:
                self.assertNotIn("_wait_", metadata["query"])

    def test_metric_name_is_gone(self):
        for trigger in self.each_trigger():
            self.assertNotIn("metricName", trigger["metadata"])

    def test_no_answer_holds_the_fleet(self):
        for file in FILES:
            with self.subTest(file=file.name):
                fallback = scaled_object(file)["spec"]["fallback"]
                self.assertEqual(fallback["behavior"], "currentReplicas")
                self.assertGreater(fallback["replicas"], 0)

    def test_a_pod_is_left_to_be_measured(self):
        for file in FILES:
            with self.subTest(file=file.name):
                self.assertGreater(load(file).minimum, 0)

    def test_windows(self):
        """Down: longer than the gap of a restarted uvtap. Up: none, the gauges have one."""
        for file in FILES:
            with self.subTest(file=file.name):
                behavior = load(file).behavior
                self.assertEqual(behavior.up.stabilization_s, 0)
                self.assertGreaterEqual(behavior.down.stabilization_s, 300)

    def test_names_fit(self):
        """The queries are about the target, and authentication is in the file."""
        for file in FILES:
            with self.subTest(file=file.name):
                scaling = load(file)
                labels = r'namespace="(.+?)",workload="(.+?)"'
                found = re.findall(labels, file.read_text())
                self.assertLessEqual(set(found), {(scaling.namespace, scaling.target)})
                names = {each["metadata"]["name"] for each in objects(file)}
                for trigger in triggers(file):
                    reference = trigger.get("authenticationRef", {"name": scaling.name})
                    self.assertIn(reference["name"], names)


class Decisions(unittest.TestCase):
    """What the files ask for when something is not as it should be."""

    WAIT_S = 0.02

    def wish(self, file: str, fleet: Fleet, **readings: float) -> int:
        """Before windows and policies, which only put it off."""
        decision = Hpa(load(FOLDER / file)).decide(0.0, fleet, {"wait": self.WAIT_S} | readings)
        return decision.wish

    def test_pods_that_fail_their_probes(self):
        """All loops are busy all the time, so that half of the pods do not answer in time."""
        fleet = Fleet(wanted=10, existing=10, ready=5)
        self.assertEqual(self.wish("recommended.yaml", fleet, utilization=10.0), 15)
        self.assertEqual(self.wish("article.yaml", fleet, utilization=1.0, delay=0.05), 8)

    def test_uvtap_is_missing_on_one_of_two_nodes(self):
        """The sum is half of what it was, an average is what it was."""
        fleet = Fleet(wanted=10, existing=10, ready=10)
        self.assertEqual(self.wish("recommended.yaml", fleet, utilization=3.5), 5)
        self.assertEqual(self.wish("predictive.yaml", fleet, forecast=3.5, utilization=0.7), 10)

    def test_a_wait_without_end(self):
        """As much as the policy lets through, and again when that has taken its share."""
        hpa, wanted, walked = Hpa(load(RECOMMENDED)), 2, []
        for sync in range(6):
            fleet = Fleet(wanted=wanted, existing=wanted, ready=wanted)
            wanted = hpa.decide(15.0 * sync, fleet, {"utilization": wanted, "wait": 0.4}).replicas
            walked.append(wanted)
        self.assertEqual(walked, [8, 10, 16, 20, 20, 20])


class Files(unittest.TestCase):
    def test_presets(self):
        """They differ from the recommended one in their numbers only."""
        presets = sorted((FOLDER / "presets").iterdir())
        self.assertCountEqual(ARTICLE_ROWS, [file.stem for file in presets])
        for file in presets:
            with self.subTest(file=file.name):
                utilization, wait = load(file).triggers
                numbers = (utilization.threshold, wait.threshold)
                self.assertEqual(numbers, ARTICLE_ROWS[file.stem])
                self.assertEqual(without_numbers(file), without_numbers(RECOMMENDED))

    def test_standard_is_the_recommended_one(self):
        standard = scaled_object(FOLDER / "presets" / "standard.yaml")
        self.assertEqual(standard, scaled_object(RECOMMENDED))

    def test_amazon(self):
        """The recommended one, asked elsewhere and with signed requests."""
        file = FOLDER / "amazon-managed-prometheus.yaml"
        amazon = scaled_object(file)
        for trigger in amazon["spec"]["triggers"]:
            self.assertEqual(trigger.pop("authenticationRef"), {"name": file.stem})
            region = trigger["metadata"].pop("awsRegion")
            self.assertIn(f".{region}.amazonaws.com/", trigger["metadata"]["serverAddress"])
            trigger["metadata"]["serverAddress"] = "http://prometheus.monitoring.svc:9090"
        self.assertEqual(amazon, scaled_object(RECOMMENDED))
        kinds = {each["kind"]: each for each in objects(file)}
        authentication = kinds["TriggerAuthentication"]
        self.assertEqual(authentication["spec"], {"podIdentity": {"provider": "aws"}})

    def test_article(self):
        """Its queries and numbers, to the letter."""
        found = {each.query: each.threshold for each in load(FOLDER / "article.yaml").triggers}
        self.assertEqual(found, ARTICLE_QUERIES)


def main() -> None:
    if not (manifests.tools_dir() / "node_modules" / "@kubernetes-models" / "keda").exists():
        print(f"SKIPPED: {manifests.tools_dir()} has no KEDA schema: scripts/fetch-manifest-tools")
        sys.exit(tier.SKIPPED)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
