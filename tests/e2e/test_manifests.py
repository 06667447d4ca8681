#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manifests of daemonset/: as the schemas want them, with the privileges that are meant and no
more, all parts fitting each other and the binary. Needs no privilege and no cluster."""

import copy
import os
import subprocess
import sys
import tempfile
import unittest
from itertools import chain
from pathlib import Path

from support import manifests, tier, uvtap
from support.manifests import DAEMONSET, Rendered, render, schema_errors
from support.nodes import REPOSITORY

BASE_KINDS = [
    "ClusterRole",
    "ClusterRoleBinding",
    "DaemonSet",
    "Namespace",
    "NetworkPolicy",
    "ServiceAccount",
]
EVERY_KERNEL = {"SYS_ADMIN", "SYS_PTRACE"}
FROM_6_6_ON = {"BPF", "PERFMON", "SYS_PTRACE"}
CAPABILITIES = {
    "eks": EVERY_KERNEL,
    "prometheus-operator": EVERY_KERNEL,
    "bottlerocket": EVERY_KERNEL,
    "least-privilege": FROM_6_6_ON,
}
INSTALL = REPOSITORY / "docs" / "install.md"
OWN_LABELS = {"namespace", "pod", "container"}
USAGE_ERROR = 2

OVERLAYS = {}
"""By name; filled by main(), once it is known that the tools are there."""


def documented() -> list[str]:
    """The kustomizations that docs/install.md shows."""
    blocks = INSTALL.read_text().split("```yaml\n")[1:]
    texts = [block.partition("```")[0] for block in blocks]
    return [text for text in texts if "../daemonset/" in text]


def render_text(kustomization: str) -> Rendered:
    """As if it stood in a folder beside daemonset/."""
    with tempfile.TemporaryDirectory(dir=REPOSITORY / "build") as folder:
        moved = kustomization.replace("../daemonset/", "../../daemonset/")
        Path(folder, "kustomization.yaml").write_text(moved)
        return render(Path(folder))


class Schemas(unittest.TestCase):
    def test_overlays(self):
        """kubectl has nothing to warn of, and every field and value is as Kubernetes knows it."""
        for name, rendered in OVERLAYS.items():
            self.assertEqual(rendered.complaints, "", name)
        objects = chain.from_iterable(rendered.objects for rendered in OVERLAYS.values())
        self.assertEqual(schema_errors(tuple(objects)), [])

    def test_kinds(self):
        self.assertCountEqual(OVERLAYS, CAPABILITIES)
        for name, rendered in OVERLAYS.items():
            with self.subTest(overlay=name):
                more = ["PodMonitor"] if name == "prometheus-operator" else []
                self.assertEqual(rendered.kinds, sorted(BASE_KINDS + more))

    def test_errors_are_found(self):
        broken = copy.deepcopy(OVERLAYS["prometheus-operator"])
        broken.pod["spec"]["hostPid"] = True
        broken.container["resources"]["limits"]["memory"] = "128Mx"
        del broken.the("ClusterRoleBinding")["roleRef"]
        broken.the("PodMonitor")["spec"]["podMetricsEndpoints"][0]["honorLabel"] = True
        errors = "\n".join(schema_errors(broken.objects))
        for word in ("hostPid", "memory", "roleRef", "honorLabel"):
            self.assertIn(word, errors)

    def test_installations_of_ones_own(self):
        """Those of docs/install.md: a simple one, and one of all components with a patch."""
        simple, composed = map(render_text, documented())
        for rendered in (simple, composed):
            self.assertEqual(rendered.complaints, "")
            self.assertEqual(schema_errors(rendered.objects), [])
            self.assertRegex(rendered.container["image"], r"^\d+\.dkr\.ecr\..*/uvtap:\d")
        self.assertEqual(simple.kinds, BASE_KINDS)
        self.assertEqual(composed.kinds, sorted([*BASE_KINDS, "PodMonitor"]))
        security = composed.container["securityContext"]
        self.assertCountEqual(security["capabilities"]["add"], FROM_6_6_ON)
        self.assertEqual(security["seLinuxOptions"]["type"], "control_t")
        (rule,) = composed.the("NetworkPolicy")["spec"]["ingress"]
        self.assertIn("from", rule)


class Privileges(unittest.TestCase):
    def test_capabilities(self):
        """Spelled without CAP_: beside allowPrivilegeEscalation: false the API server refuses
        CAP_SYS_ADMIN, and only in that spelling."""
        for name, rendered in OVERLAYS.items():
            with self.subTest(overlay=name):
                capabilities = rendered.container["securityContext"]["capabilities"]
                self.assertEqual(capabilities["drop"], ["ALL"])
                self.assertCountEqual(capabilities["add"], CAPABILITIES[name])

    def test_nothing_else_is_taken(self):
        for name, rendered in OVERLAYS.items():
            with self.subTest(overlay=name):
                security = rendered.container["securityContext"]
                self.assertIs(security["privileged"], False)
                self.assertIs(security["allowPrivilegeEscalation"], False)
                self.assertIs(security["readOnlyRootFilesystem"], True)
                self.assertEqual(security["seccompProfile"], {"type": "RuntimeDefault"})
                self.assertEqual(security["appArmorProfile"], {"type": "Unconfined"})
                self.assertEqual("seLinuxOptions" in security, name == "bottlerocket")
                pod = rendered.pod["spec"]
                self.assertIs(pod["hostPID"], True)
                self.assertNotIn("hostNetwork", pod)
                self.assertNotIn("hostIPC", pod)

    def test_the_only_part_of_the_node_is_read_only(self):
        for name, rendered in OVERLAYS.items():
            with self.subTest(overlay=name):
                (volume,) = rendered.pod["spec"]["volumes"]
                (mount,) = rendered.container["volumeMounts"]
                self.assertEqual(volume["hostPath"]["path"], "/var/log/containers")
                self.assertEqual(mount["name"], volume["name"])
                self.assertEqual(mount["mountPath"], "/var/log/containers")
                self.assertIs(mount["readOnly"], True)

    def test_pods_may_be_read_and_nothing_else(self):
        for rendered in OVERLAYS.values():
            (rule,) = rendered.the("ClusterRole")["rules"]
            self.assertEqual(rule["apiGroups"], [""])
            self.assertEqual(rule["resources"], ["pods"])
            self.assertCountEqual(rule["verbs"], ["get", "list", "watch"])

    def test_the_namespace_admits_the_pods(self):
        for rendered in OVERLAYS.values():
            labels = rendered.the("Namespace")["metadata"]["labels"]
            self.assertEqual(labels["pod-security.kubernetes.io/enforce"], "privileged")


class Wiring(unittest.TestCase):
    def test_namespace(self):
        for name, rendered in OVERLAYS.items():
            with self.subTest(overlay=name):
                namespace = rendered.the("Namespace")["metadata"]["name"]
                for each in rendered.objects:
                    if each["kind"] not in ("Namespace", "ClusterRole", "ClusterRoleBinding"):
                        self.assertEqual(each["metadata"]["namespace"], namespace)

    def test_the_pods_have_the_role(self):
        for name, rendered in OVERLAYS.items():
            with self.subTest(overlay=name):
                binding = rendered.the("ClusterRoleBinding")
                account = rendered.the("ServiceAccount")["metadata"]
                role = rendered.the("ClusterRole")["metadata"]
                self.assertEqual(binding["roleRef"]["name"], role["name"])
                (subject,) = binding["subjects"]
                self.assertEqual(subject["name"], account["name"])
                self.assertEqual(subject["namespace"], account["namespace"])
                self.assertEqual(rendered.pod["spec"]["serviceAccountName"], account["name"])
                self.assertIs(rendered.pod["spec"]["automountServiceAccountToken"], True)

    def test_selectors(self):
        for name, rendered in OVERLAYS.items():
            with self.subTest(overlay=name):
                labels = rendered.pod["metadata"]["labels"].items()
                selectors = [
                    rendered.the("DaemonSet")["spec"]["selector"],
                    rendered.the("NetworkPolicy")["spec"]["podSelector"],
                ]
                if "PodMonitor" in rendered.kinds:
                    selectors.append(rendered.the("PodMonitor")["spec"]["selector"])
                for selector in selectors:
                    self.assertLessEqual(selector["matchLabels"].items(), labels)

    def test_ports(self):
        """Probes, policy and scrapers speak of the port where the metrics are served."""
        for name, rendered in OVERLAYS.items():
            with self.subTest(overlay=name):
                container = rendered.container
                (port,) = container["ports"]
                listen = container["args"][container["args"].index("--listen") + 1]
                self.assertEqual(int(listen.rpartition(":")[2]), port["containerPort"])
                for probe, path in (("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")):
                    asks = container[probe]["httpGet"]
                    self.assertEqual(asks, {"path": path, "port": port["name"]})
                (rule,) = rendered.the("NetworkPolicy")["spec"]["ingress"]
                self.assertEqual(rule, {"ports": [{"protocol": "TCP", "port": port["name"]}]})

    def test_scrape_annotations(self):
        for name, rendered in OVERLAYS.items():
            with self.subTest(overlay=name):
                annotations = rendered.pod["metadata"].get("annotations", {})
                port = str(rendered.container["ports"][0]["containerPort"])
                expected = {
                    "prometheus.io/scrape": "true",
                    "prometheus.io/port": port,
                    "prometheus.io/path": "/metrics",
                }
                self.assertEqual(annotations, {} if name == "prometheus-operator" else expected)

    def test_pod_monitor(self):
        """A series keeps the labels that uvtap gave it, and gets none of uvtap's own pod."""
        rendered = OVERLAYS["prometheus-operator"]
        (endpoint,) = rendered.the("PodMonitor")["spec"]["podMetricsEndpoints"]
        self.assertEqual(endpoint["port"], rendered.container["ports"][0]["name"])
        self.assertEqual(endpoint["path"], "/metrics")
        self.assertIs(endpoint["honorLabels"], True)
        dropped, *replaced = endpoint["relabelings"]
        self.assertEqual(dropped["action"], "labeldrop")
        for label in OWN_LABELS:
            self.assertRegex(label, f"^({dropped['regex']})$")
        for each in replaced:
            self.assertEqual(each["sourceLabels"], ["__meta_kubernetes_pod_node_name"])
        self.assertEqual({each["targetLabel"] for each in replaced}, {"instance", "node"})

    def test_on_every_node(self):
        for name, rendered in OVERLAYS.items():
            with self.subTest(overlay=name):
                pod = rendered.pod["spec"]
                self.assertEqual(pod["tolerations"], [{"operator": "Exists"}])
                self.assertEqual(pod["priorityClassName"], "system-node-critical")
                resources = rendered.container["resources"]
                self.assertCountEqual(resources["requests"], ["cpu", "memory"])
                self.assertCountEqual(resources["limits"], ["memory"])


class ProtectedMetrics(unittest.TestCase):
    """The component that adds TLS and a token, beside each way to be found by Prometheus."""

    @classmethod
    def setUpClass(cls):
        cls.rendered = {
            beside: render_text(
                "resources: [../daemonset/base]\ncomponents:\n"
                f"  - ../daemonset/components/{beside}\n"
                "  - ../daemonset/components/protected-metrics\n"
            )
            for beside in ("scrape-annotations", "pod-monitor")
        }

    def test_schemas(self):
        for rendered in self.rendered.values():
            self.assertEqual(rendered.complaints, "")
            self.assertEqual(schema_errors(rendered.objects), [])

    def test_files(self):
        """What uvtap is told to read is what the volume holds, and it is there for nobody else."""
        for rendered in self.rendered.values():
            container = rendered.container
            told = {
                each["value"] for each in container["env"] if each["name"].startswith("UVTAP_")
            }
            (mount,) = (
                each for each in container["volumeMounts"] if each["name"] == "metrics-protection"
            )
            (volume,) = (
                each for each in rendered.pod["spec"]["volumes"] if each["name"] == mount["name"]
            )
            held = [
                f"{mount['mountPath']}/{item['path']}"
                for source in volume["projected"]["sources"]
                for item in source["secret"]["items"]
            ]
            self.assertCountEqual(told, held)
            self.assertEqual(volume["projected"]["defaultMode"], 0o400)

    def test_everybody_who_asks_does_so_by_tls(self):
        for rendered in self.rendered.values():
            for probe in ("readinessProbe", "livenessProbe"):
                self.assertEqual(rendered.container[probe]["httpGet"]["scheme"], "HTTPS")
            annotations = rendered.pod["metadata"]["annotations"]
            self.assertEqual(annotations["prometheus.io/scheme"], "https")
        (endpoint,) = self.rendered["pod-monitor"].the("PodMonitor")["spec"]["podMetricsEndpoints"]
        self.assertEqual(endpoint["scheme"], "https")
        volumes = self.rendered["pod-monitor"].pod["spec"]["volumes"]
        sources = [each["projected"]["sources"] for each in volumes if "projected" in each]
        secrets = [source["secret"]["name"] for source in chain.from_iterable(sources)]
        asked = [
            endpoint["tlsConfig"]["ca"]["secret"]["name"],
            endpoint["authorization"]["credentials"]["name"],
        ]
        self.assertEqual(asked, secrets)

    def test_the_binary_takes_the_variables(self):
        container = self.rendered["pod-monitor"].container
        given = {each["name"]: each["value"] for each in container["env"] if "value" in each}
        done = subprocess.run(
            [uvtap.binary(), *container["args"]],
            env=given, capture_output=True, text=True, timeout=30,
        )  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("/etc/uvtap/token: No such file", done.stderr)


class Binary(unittest.TestCase):
    """`uvtap` takes the arguments and variables that the manifest gives it."""

    def serve(self, arguments: list[str], environment: dict) -> subprocess.CompletedProcess:
        """Without any capability, so that it ends after it has read them."""
        drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
        return subprocess.run(
            [*drop, uvtap.binary(), *arguments],
            env=environment, capture_output=True, text=True, timeout=30,
        )  # fmt: skip

    def environment(self, container: dict) -> dict:
        """As the kubelet would set it on a node of EKS."""
        fields = {"spec.nodeName": "ip-10-0-1-2.eu-central-1.compute.internal"}
        given = {
            each["name"]: fields[each["valueFrom"]["fieldRef"]["fieldPath"]]
            for each in container["env"]
        }
        cluster = {"KUBERNETES_SERVICE_HOST": "10.100.0.1", "KUBERNETES_SERVICE_PORT": "443"}
        return given | cluster

    def test_arguments_and_variables(self):
        for name, rendered in OVERLAYS.items():
            with self.subTest(overlay=name):
                container = rendered.container
                done = self.serve(container["args"], self.environment(container))
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, "not permitted to observe other processes")

    def test_a_wrong_one_is_found(self):
        container = OVERLAYS["eks"].container
        environment = self.environment(container)
        for arguments in (["--listne", ":1"], ["--listen", "pod:9464"]):
            done = self.serve([*container["args"], *arguments], environment)
            self.assertEqual(done.returncode, USAGE_ERROR, done.stderr)
        for name in environment:
            with self.subTest(variable=name):
                done = self.serve(container["args"], environment | {name: "No Such Name"})
                self.assertEqual(done.returncode, USAGE_ERROR, done.stderr)
                self.assertIn(name, done.stderr)


def main() -> None:
    if reason := manifests.missing():
        print(f"SKIPPED: {Path(sys.argv[0]).name}: {reason}")
        sys.exit(tier.SKIPPED)
    for folder in sorted((DAEMONSET / "overlays").iterdir()):
        OVERLAYS[folder.name] = render(folder)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
