#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All the way: applications in pods, uvtap, a real Prometheus, the shipped recording rules, the
shipped ScaledObjects, and what KEDA and the HPA would make of it. The decision is the right number.

The files are taken as they are: the pods are those of the Deployment `checkout` in `shop`, which they
speak of. Only what takes long is shortened: uvtap's window, and how often Prometheus scrapes and
evaluates. The HPA's five minutes pass by a clock of the test's own.
"""

import math
import os
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import ExitStack
from pathlib import Path

import yaml
from support import kube_pods, prometheus, promql_docs, scaler, tier
from support.kube_api import KubeApi
from support.manifests import DAEMONSET
from support.nodes import ENVIRONMENT, node
from support.pod_cgroup import in_pod
from support.pods import deployment
from support.prometheus import RULES, Prometheus, with_static_discovery
from support.scaler import Controller, Decision, Fleet
from support.scaler.keda import Failure
from support.uvtap import Uvtap, free_port

NODE = "22"
KEDA = DAEMONSET / "keda"
PODS = 4
WINDOW_S = 3
HOUR_S = 3600.0

CHECKOUT = '{namespace="shop",workload="checkout"}'
# How far a loop is from its duty cycle: timers are late by up to a millisecond.
OFF_DUTY = 0.03


class DutyApp:
    """One tests/programs/duty_cycle.js. Use with `with`."""

    def __init__(self, loop: str = "main"):
        self._process = subprocess.Popen(
            node(NODE).command("duty_cycle.js", loop),
            env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.pid = self._process.pid

    def __enter__(self) -> "DutyApp":
        return self

    def __exit__(self, *_) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def do(self, busy_ms: int, pause_ms: int) -> None:
        self._process.stdin.write(f"{busy_ms} {pause_ms}\n")
        self._process.stdin.flush()
        self._process.stdout.readline()


def steady(replicas: int) -> Fleet:
    return Fleet(wanted=replicas, existing=replicas, ready=replicas)


def controller_of(what: str | dict, prometheus_: Prometheus) -> Controller:
    """`what`: the name of a file, or what one says."""
    scaling = scaler.load(KEDA / what) if isinstance(what, str) else scaler.parse(what)
    return Controller(scaling, scaler.Prometheus(prometheus_.address).values)


def decide(
    what: str | dict, prometheus_: Prometheus, fleet: Fleet, seconds: float = 0.0
) -> Decision:
    """The last decision when all stays as it is for so long and nothing is started or ended."""
    return decisions(what, prometheus_, fleet, seconds)[-1]


def decisions(
    what: str | dict, prometheus_: Prometheus, fleet: Fleet, seconds: float
) -> list[Decision]:
    """One for each sync."""
    controller = controller_of(what, prometheus_)
    syncs = range(int(seconds / scaler.SYNC_S) + 1)
    return [controller.tick(scaler.SYNC_S * sync, fleet) for sync in syncs]


def walk(what: str | dict, prometheus_: Prometheus, replicas: int, seconds: float) -> list[int]:
    """The fleet over time when the decisions are followed, each number once."""
    controller = controller_of(what, prometheus_)
    walked = [replicas]
    for sync in range(int(seconds / scaler.SYNC_S) + 1):
        decision = controller.tick(scaler.SYNC_S * sync, steady(walked[-1]))
        if decision.replicas != walked[-1]:
            walked.append(decision.replicas)
    return walked


class AllTheWay(unittest.TestCase):
    """In the order of the numbers: Prometheus begins without data and ends without uvtap."""

    @classmethod
    def setUpClass(cls):
        running = cls.enterClassContext(ExitStack())
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        cls.api = running.enter_context(KubeApi())
        cls.running = running
        cls.fleet = [cls.start_pod("checkout") for _ in range(PODS)]
        cls.computing = cls.start_pod("thumbnails", "worker")
        cls.port = free_port()
        rules = folder / "rules.yaml"
        shipped = (RULES / "rules.yaml").read_text()
        rules.write_text(shipped.replace("interval: 15s", "interval: 1s"))
        cls.prometheus = running.enter_context(Prometheus([cls.scrape_job()], rule_files=[rules]))

    @classmethod
    def start_pod(cls, workload: str, loop: str = "main") -> DutyApp:
        app = cls.running.enter_context(DutyApp(loop))
        cls.running.enter_context(in_pod(cls.api, deployment(workload), app.pid, "shop"))
        return app

    @classmethod
    def start_uvtap(cls) -> Uvtap:
        place = (f"NODE_NAME={kube_pods.NODE}", f"KUBERNETES_SERVICE_HOST={cls.api.host}")
        uvtap = Uvtap(
            window_s=WINDOW_S,
            prefix=("env", *place, f"KUBERNETES_SERVICE_PORT={cls.api.port}"),
            arguments=(
                "--listen", f"127.0.0.1:{cls.port}", "--per-process=false",
                "--kubernetes", "api", "--kubernetes-credentials", str(cls.api.credentials),
            ),
        )  # fmt: skip
        uvtap.port = cls.port
        return uvtap

    @classmethod
    def scrape_job(cls) -> dict:
        """The shipped one, with the job that the article's queries ask for."""
        (job,) = yaml.safe_load((RULES / "scrape.yaml").read_text())["scrape_configs"]
        del job["scrape_interval"]
        relabeling = promql_docs.yaml_block("drop-in.md", 1)["metric_relabel_configs"]
        return with_static_discovery(job, cls.port) | {"metric_relabel_configs": relabeling}

    def work(self, busy_ms: int, pause_ms: int) -> None:
        """All pods from now on. Returns when Prometheus and its rules know nothing else."""
        for app in self.fleet:
            app.do(busy_ms, pause_ms)
        cycle_ms = busy_ms + pause_ms
        mean = f"workload:nodejs_eventloop_utilization:mean{CHECKOUT}"
        utilization = f"nodejs_eventloop_utilization{CHECKOUT} or {mean}"
        self.await_all(utilization, PODS + 1, busy_ms / cycle_ms, OFF_DUTY)
        # Of what arrives in one cycle, the part that meets more than this is a twentieth.
        wait_s = (busy_ms - 0.05 * cycle_ms) / 1e3
        wait = f"nodejs_eventloop_wait_p95_seconds{CHECKOUT}"
        self.await_all(wait, PODS, wait_s, max(0.2 * wait_s, 0.005))

    def await_all(self, query: str, count: int, expected: float, within: float) -> None:
        def reached(found: list) -> bool:
            near = [abs(each.value - expected) < within for each in found]
            return len(near) == count and all(near)

        self.prometheus.await_that(query, reached, f"each is {expected:.3f}")

    def assert_decision(self, decision: Decision, replicas: int, why: str) -> None:
        print(f"  {decision.replicas} pods ({decision.why}); {decision.readings}", flush=True)
        self.assertEqual((decision.replicas, decision.why), (replicas, why))

    def assert_held(self, file: str) -> None:
        """For as long as it takes, and whatever the state of the fallback."""
        for fleet in (steady(PODS), Fleet(wanted=PODS, existing=PODS, ready=1)):
            for decision in decisions(file, self.prometheus, fleet, HOUR_S / 4):
                self.assertEqual(decision.replicas, PODS, decision)

    def test_1_no_data_yet(self):
        """Prometheus is there, and uvtap is not."""
        for file in ("recommended.yaml", "article.yaml", "predictive.yaml"):
            with self.subTest(file=file):
                self.assert_held(file)

    def test_2_a_ramp_is_foreseen(self):
        """Pods for the demand in 90 seconds, while the present one asks for none."""
        type(self).uvtap = self.enterClassContext(self.start_uvtap())
        percent_per_s = 0.75
        self.work(40, 60)
        began = time.monotonic()
        while (since := time.monotonic() - began) < 20.0:
            busy = 40 + percent_per_s * since
            for app in self.fleet:
                app.do(round(busy), 100 - round(busy))
            self.prometheus.pause()
        reactive = decide("recommended.yaml", self.prometheus, steady(PODS))
        predictive = decide("predictive.yaml", self.prometheus, steady(PODS))
        self.assert_decision(reactive, PODS, "utilization")
        self.assertEqual(predictive.why, "forecast")
        foreseen = PODS * (busy + 90 * percent_per_s) / 100 / 0.7
        print(f"  forecast {predictive.readings}; {foreseen:.1f} pods foreseen")
        self.assertAlmostEqual(predictive.readings["forecast"] / 0.7, foreseen, delta=1.0)
        self.assertGreater(predictive.replicas, PODS)

    def test_3_steady_state(self):
        self.work(68, 32)
        decision = decide("recommended.yaml", self.prometheus, steady(PODS), HOUR_S / 4)
        self.assert_decision(decision, PODS, "utilization")

    def test_4_scale_up(self):
        """Four pods are busy 90 % of the time: 3.6 / 0.7."""
        self.work(72, 8)
        decision = decide("recommended.yaml", self.prometheus, steady(PODS))
        self.assert_decision(decision, 6, "utilization")

    def test_4_scale_up_with_the_articles_queries(self):
        """4 × 0.9 / 0.7, and the delay even more. Without metricType, as they were published,
        0.9 / 0.7 is the number of pods."""
        document = yaml.safe_load((KEDA / "article.yaml").read_text())
        fixed = decide(document, self.prometheus, steady(PODS))
        utilization, delay = (fixed.readings[name] for name in ("utilization", "delay"))
        wishes = [math.ceil(PODS * utilization / 0.7), math.ceil(PODS * delay / 0.1)]
        self.assertEqual(wishes[0], 6)
        self.assert_decision(fixed, max(wishes), "delay")
        for trigger in document["spec"]["triggers"]:
            del trigger["metricType"]
        published = decide(document, self.prometheus, steady(PODS))
        self.assertEqual(published.wish, 2)

    def test_5_scale_up_for_wait(self):
        """The loops are idle most of the time, and yet one request in twenty waits for 480 ms: that
        asks for four times as many pods, and eight at a time are let through."""
        self.work(600, 1800)
        decision = decide("recommended.yaml", self.prometheus, steady(PODS))
        self.assertEqual(decision.wish, 4 * PODS)
        self.assert_decision(decision, PODS + 8, "wait")

    def test_6_scale_down(self):
        """1.2 / 0.7: two pods; after five minutes, a pod a minute."""
        self.work(30, 70)
        before = decide("recommended.yaml", self.prometheus, steady(PODS), 285)
        self.assert_decision(before, PODS, "utilization")
        self.assertEqual(walk("recommended.yaml", self.prometheus, PODS, 300), [4, 3])
        self.assertEqual(walk("recommended.yaml", self.prometheus, PODS, HOUR_S / 4), [4, 3, 2])

    def test_7_every_file_has_its_value(self):
        """One number for each query of each file: KEDA takes nothing else."""
        self.computing.do(60, 40)
        worker = 'nodejs_worker_eventloop_utilization{workload="thumbnails"}'
        self.prometheus.await_that(worker, lambda found: abs(found[0].value - 0.6) < OFF_DUTY)
        for file in sorted(KEDA.rglob("*.yaml")):
            controller = controller_of(str(file), self.prometheus)
            for name, reading in controller.readings().items():
                with self.subTest(file=file.name, trigger=name):
                    self.assertNotIsInstance(reading, Failure)
        workers = decide("workers.yaml", self.prometheus, steady(2))
        self.assertAlmostEqual(workers.readings["workers"], 0.6, delta=OFF_DUTY)

    def test_8_uvtap_down(self):
        """In the scale-down, which now comes to a halt."""
        self.uvtap.stop()
        for metric in ("nodejs_eventloop_utilization", "workload:nodejs_eventloop_utilization:sum"):
            gone = f"{metric}{CHECKOUT}"
            self.prometheus.await_that(gone, lambda found: not found, "nothing", within_s=5)
        for file in ("recommended.yaml", "article.yaml", "predictive.yaml"):
            with self.subTest(file=file):
                self.assert_held(file)

    def test_9_prometheus_down(self):
        self.prometheus.stop()
        for file in ("recommended.yaml", "article.yaml", "predictive.yaml"):
            with self.subTest(file=file):
                self.assert_held(file)


def main() -> None:
    if prometheus.missing():
        print(f"SKIPPED: {os.path.basename(sys.argv[0])}: no Prometheus: scripts/fetch-prometheus")
        sys.exit(tier.SKIPPED)
    tier.main((NODE,))


if __name__ == "__main__":
    main()
