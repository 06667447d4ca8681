#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of daemonset/prometheus, as promtool and the Prometheus operator's schema read them.
Needs no privilege and no application."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import yaml
from support import manifests, prometheus, promql_docs, tier
from support.nodes import REPOSITORY
from support.prometheus import RULES, promtool, with_static_discovery

RULE_TESTS = REPOSITORY / "tests" / "prometheus"
SEVERITIES = {"critical", "warning", "info"}
ANNOTATIONS = {"summary", "description", "runbook_url"}


def load(name: str) -> dict:
    return yaml.safe_load((RULES / name).read_text())


def rules(name: str) -> list[dict]:
    return [rule for group in load(name)["groups"] for rule in group["rules"]]


def records_of_main_loops() -> list[str]:
    return [rule["record"] for rule in load("rules.yaml")["groups"][0]["rules"]]


class PromtoolTest(unittest.TestCase):
    def assert_accepts(self, *arguments):
        done = promtool(*arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Rules(PromtoolTest):
    def test_they_are_valid(self):
        files = [RULES / name for name in ("rules.yaml", "alerts.yaml")]
        self.assert_accepts("check", "rules", "--lint-fatal", *files)

    def test_they_do_what_they_should(self):
        self.assert_accepts("test", "rules", *sorted(RULE_TESTS.glob("*_test.yaml")))

    def test_every_one_is_tested(self):
        tests = "".join(file.read_text() for file in RULE_TESTS.glob("*_test.yaml"))
        alerts = [f'alertname="{rule["alert"]}"' for rule in rules("alerts.yaml")]
        names = records_of_main_loops() + alerts
        self.assertEqual([name for name in names if name not in tests], [])

    def test_workers_have_the_same_as_main_loops(self):
        """With another prefix; so the tests of the main loops' rules stand for both."""
        main, workers = (group["rules"] for group in load("rules.yaml")["groups"])
        expected = json.loads(
            json.dumps(main).replace("nodejs_eventloop_", "nodejs_worker_eventloop_")
        )
        self.assertEqual(workers, expected)

    def test_every_record_is_documented(self):
        page = (promql_docs.DOCS / "prometheus.md").read_text()
        missing = [name for name in records_of_main_loops() if f"`{name}`" not in page]
        self.assertEqual(missing, [])


class Alerts(unittest.TestCase):
    def test_each_has_its_texts(self):
        for rule in rules("alerts.yaml"):
            with self.subTest(alert=rule["alert"]):
                self.assertIn(rule["labels"]["severity"], SEVERITIES)
                self.assertEqual(set(rule["annotations"]), ANNOTATIONS)

    def test_each_has_a_section_in_the_runbook(self):
        sections = promql_docs.headings(promql_docs.DOCS / "alerts.md")
        for rule in rules("alerts.yaml"):
            with self.subTest(alert=rule["alert"]):
                page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
                self.assertEqual(page, "docs/alerts.md")
                self.assertEqual(anchor, rule["alert"].lower())
                self.assertIn(anchor, sections)


class Configurations(PromtoolTest):
    """Debian's Prometheus is built without Kubernetes, and is older than scrape_config_files. Both
    are put in by hand; the rest is judged as it stands."""

    def check(self, configuration: dict, *flags: str) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump(configuration, file)
            file.flush()
            self.assert_accepts("check", "config", *flags, file.name)

    def scrapes(self) -> list[dict]:
        return [with_static_discovery(each, 9464) for each in load("scrape.yaml")["scrape_configs"]]

    def test_scrape(self):
        self.check({"scrape_configs": self.scrapes()})

    def test_scrape_fits_the_daemonset(self):
        (job,) = load("scrape.yaml")["scrape_configs"]
        (discovery,) = job["kubernetes_sd_configs"]
        daemonset = yaml.safe_load((manifests.DAEMONSET / "base" / "daemonset.yaml").read_text())
        template = daemonset["spec"]["template"]
        self.assertEqual(discovery["role"], "pod")
        self.assertEqual(discovery["namespaces"]["names"], [daemonset["metadata"]["namespace"]])
        ((name, value),) = template["metadata"]["labels"].items()
        self.assertEqual(discovery["selectors"], [{"role": "pod", "label": f"{name}={value}"}])
        (port,) = template["spec"]["containers"][0]["ports"]
        self.assertEqual(job["relabel_configs"][0]["regex"], port["name"])

    def test_amazon_managed_prometheus(self):
        configuration = load("amazon-managed-prometheus.yaml")
        self.assertEqual(configuration.pop("scrape_config_files"), ["scrape.yaml"])
        self.check(configuration | {"scrape_configs": self.scrapes()}, "--agent")

    def test_a_wrong_one_is_found(self):
        (job,) = self.scrapes()
        job["honour_labels"] = True
        with self.assertRaisesRegex(AssertionError, "honour_labels"):
            self.check({"scrape_configs": [job]})

    def test_relabelings_of_the_documentation(self):
        for number in range(len(promql_docs.blocks(promql_docs.DOCS / "drop-in.md", "yaml"))):
            (job,) = self.scrapes()
            self.check({"scrape_configs": [job | promql_docs.yaml_block("drop-in.md", number)]})


class PrometheusRules(unittest.TestCase):
    def made(self, *labels: str) -> list[dict]:
        command = [RULES / "as-prometheus-rule", *labels]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return list(yaml.safe_load_all(done.stdout))

    def test_they_are_the_files(self):
        of_rules, of_alerts = self.made()
        self.assertEqual(of_rules["spec"], load("rules.yaml"))
        self.assertEqual(of_alerts["spec"], load("alerts.yaml"))

    def test_labels(self):
        for each in self.made("release=kube-prometheus-stack", "number=1"):
            self.assertEqual(each["metadata"]["labels"]["release"], "kube-prometheus-stack")
            self.assertEqual(each["metadata"]["labels"]["number"], "1")

    def test_they_fit_the_operators_schema(self):
        if reason := manifests.missing():
            self.skipTest(reason)
        self.assertEqual(manifests.schema_errors(tuple(self.made("number=1"))), [])


def main() -> None:
    if prometheus.missing():
        print(f"SKIPPED: {Path(sys.argv[0]).name}: no promtool: scripts/fetch-prometheus")
        sys.exit(tier.SKIPPED)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
