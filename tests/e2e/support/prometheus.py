# SPDX-License-Identifier: Apache-2.0
"""Runs a real Prometheus and asks it questions."""

import json
import os
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Callable, Iterable

from .metrics import Sample
from .nodes import REPOSITORY
from .uvtap import free_port

READY_WITHIN_S = 20.0
STOP_WITHIN_S = 10.0
POLL_S = 0.1
RULES = REPOSITORY / "daemonset" / "prometheus"

Samples = list[Sample]


class QueryError(AssertionError):
    """What Prometheus said of a query that it refused."""


def programs_dir() -> Path:
    """Where scripts/fetch-prometheus left the two programs."""
    return Path(os.environ.get("UVTAP_PROMETHEUS", REPOSITORY / "build" / "prometheus")).resolve()


def missing() -> bool:
    return not (programs_dir() / "prometheus").exists()


def promtool(*arguments: str | Path, **options) -> subprocess.CompletedProcess:
    command = [str(programs_dir() / "promtool"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def static_scrape(port: int, labels: dict[str, str] | None = None, **more: Any) -> dict:
    """A scrape_config of one target on this machine that takes the target's own labels as they
    are. `labels` go to the target, also hidden ones of a service discovery; `more` goes to the
    scrape_config (job_name, metric_relabel_configs, …)."""
    target = {"targets": [f"127.0.0.1:{port}"], "labels": labels or {}}
    return {"job_name": "uvtap", "honor_labels": True, "static_configs": [target]} | more


def with_static_discovery(scrape: dict, port: int, node: str = "node-1") -> dict:
    """A scrape_config of Kubernetes' pods, for one target on this machine with the labels that
    discovery would give it. Debian's Prometheus is built without Kubernetes."""
    found = {
        "__meta_kubernetes_namespace": "uvtap",
        "__meta_kubernetes_pod_name": "uvtap-x7k2p",
        "__meta_kubernetes_pod_container_name": "uvtap",
        "__meta_kubernetes_pod_container_port_name": "metrics",
        "__meta_kubernetes_pod_node_name": node,
    }
    rest = {key: value for key, value in scrape.items() if key != "kubernetes_sd_configs"}
    return rest | {"static_configs": [{"targets": [f"127.0.0.1:{port}"], "labels": found}]}


class Prometheus:
    """Scrapes and evaluates rules each second unless told otherwise. Use with `with`: it is ready
    then, and stopped at the end."""

    def __init__(
        self,
        scrapes: Iterable[dict],
        rule_files: Iterable[Path] = (),
        interval: str = "1s",
        arguments: tuple[str, ...] = (),
    ):
        """`scrapes`: scrape_configs. `arguments`: further flags of Prometheus."""
        self.port = free_port()
        self._folder = tempfile.TemporaryDirectory(prefix="uvtap-prometheus-")
        folder = Path(self._folder.name)
        configuration = {
            "global": {
                "scrape_interval": interval, "scrape_timeout": interval,
                "evaluation_interval": interval,
            },
            "rule_files": [str(Path(file).resolve()) for file in rule_files],
            "scrape_configs": list(scrapes),
        }  # fmt: skip
        # Every JSON document is a YAML document.
        (folder / "prometheus.yaml").write_text(json.dumps(configuration))
        self._log = folder / "log"
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                [
                    # Not at the real-time priority that a test may have taken for itself, and not
                    # for longer than the test.
                    "chrt", "--other", "0", "setpriv", "--pdeathsig", "KILL",
                    str(programs_dir() / "prometheus"),
                    f"--config.file={folder}/prometheus.yaml",
                    f"--storage.tsdb.path={folder}/data",
                    f"--web.listen-address=127.0.0.1:{self.port}",
                    *arguments,
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def __enter__(self) -> "Prometheus":
        self._await_ready()
        return self

    def __exit__(self, *_) -> None:
        self.stop()
        self._folder.cleanup()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def query(self, promql: str, at: float | None = None) -> Samples:
        """What an instant query returns, now or at a time since the epoch. QueryError if it is
        refused."""
        moment = {} if at is None else {"time": f"{at:.3f}"}
        data = self.api("query", query=promql, **moment)
        if data["resultType"] == "scalar":
            return [Sample({}, float(data["result"][1]))]
        return [Sample(each["metric"], float(each["value"][1])) for each in data["result"]]

    def value(self, promql: str, at: float | None = None) -> float:
        """Of a query that returns one series, as KEDA wants it. KeyError if it returns none or
        several."""
        samples = self.query(promql, at)
        if len(samples) != 1:
            raise KeyError(f"{len(samples)} series from {promql}")
        return samples[0].value

    def await_that(
        self,
        promql: str,
        condition: Callable[[Samples], bool] = bool,
        what: str = "it returns a series",
        within_s: float = 20.0,
    ) -> Samples:
        """The first answer that meets the condition. AssertionError after `within_s`."""
        deadline = time.monotonic() + within_s
        while True:
            samples = self.query(promql)
            if condition(samples):
                return samples
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {within_s} s: {what}: {promql}\n{samples}")
            self.pause()

    def rules(self) -> list[dict]:
        """Every rule, with `health` and `lastError`, as /api/v1/rules tells it."""
        return [rule for group in self.api("rules")["groups"] for rule in group["rules"]]

    def targets(self) -> list[dict]:
        """Those that are scraped."""
        return self.api("targets", state="active")["activeTargets"]

    def api(self, endpoint: str, **parameters: str) -> Any:
        """The `data` of an answer of /api/v1/. QueryError with Prometheus's own words."""
        asked = urllib.parse.urlencode(parameters)
        url = f"{self.address}/api/v1/{endpoint}?{asked}"
        try:
            with urllib.request.urlopen(url, timeout=10) as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as error:
            said = json.loads(error.read())
            raise QueryError(f"{said['error']}\nasked: {parameters}") from error

    def stop(self) -> None:
        if self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _await_ready(self) -> None:
        deadline = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"{self.address}/-/ready", timeout=10).close()
                return
            except OSError:
                self.pause()
        raise AssertionError(f"Prometheus is not ready after {READY_WITHIN_S} s:\n{self.log()}")

    def pause(self) -> None:
        """Waits a moment; raises at once if Prometheus has ended."""
        try:
            self.process.wait(POLL_S)
        except subprocess.TimeoutExpired:
            return
        raise AssertionError(f"Prometheus ended with {self.process.returncode}:\n{self.log()}")
