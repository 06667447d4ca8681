#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`uvtap check` says where the names of pods come from, and in which pod a process is."""

import os
import subprocess
import tempfile
import unittest

from support import kube_pods, tier, uvtap
from support.apps import App
from support.kube_api import KubeApi
from support.nodes import node
from support.pod_cgroup import CONTAINER, in_pod
from support.pods import deployment

NODE = "22"
NAMESPACE = "shop"


class CheckPods(unittest.TestCase):
    def setUp(self):
        self.api = self.enterContext(KubeApi())
        self.app = self.enterContext(App(node(NODE), "idle"))
        workload = deployment("web")
        self.pod = self.enterContext(in_pod(self.api, workload, self.app.pid, NAMESPACE))

    def check(self, *arguments: str) -> str:
        """The report, as in a pod of that API server."""
        cluster = {
            "NODE_NAME": kube_pods.NODE,
            "KUBERNETES_SERVICE_HOST": self.api.host,
            "KUBERNETES_SERVICE_PORT": str(self.api.port),
        }
        credentials = f"--kubernetes-credentials={self.api.credentials}"
        done = subprocess.run(
            [uvtap.binary(), "check", credentials, *arguments],
            env=os.environ | cluster, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def assert_process_is_in(self, place: str, report: str) -> None:
        self.assertRegex(report, rf"ok  app.js/{self.app.pid} .*; in {place}\n")

    def test_the_api_server_tells(self):
        report = self.check()
        self.assertRegex(report, r"ok  pod names +from the API server: 1 pods\n")
        self.assert_process_is_in(f"{NAMESPACE}/{self.pod}/{CONTAINER}", report)

    def test_the_api_server_forbids(self):
        self.api.faults.list_status = 403
        report = self.check()
        self.assertRegex(report, r"no  pod names .*\(403\).*; containers go by their ids\n")
        self.assertIn("what helps: a network policy", report)
        self.assert_process_is_in("container [0-9a-f]{12}", report)

    def test_nobody_answers_and_log_files_stand_in(self):
        self.api.refuse()
        with tempfile.TemporaryDirectory() as logs:
            report = self.check("--container-logs", logs)
        self.assertRegex(report, r"no  pod names .*; the names of log files stand in")

    def test_off(self):
        self.assertRegex(self.check("--kubernetes", "off"), r"--  pod names +off")


if __name__ == "__main__":
    tier.main((NODE,))
