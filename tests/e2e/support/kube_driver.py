# SPDX-License-Identifier: Apache-2.0
"""Runs tests/support/kube_watch_driver.cpp: uvtap's watch of the API server without the rest."""

import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Callable

from .kube_api import KubeApi
from .kube_pods import NODE
from .nodes import REPOSITORY

POLL_S = 0.01
STOP_WITHIN_S = 10.0


def driver() -> Path:
    default = REPOSITORY / "build" / "release" / "tests" / "kube_watch_driver"
    return Path(os.environ.get("KUBE_WATCH_DRIVER", default))


class Watch:
    """A watch of this server. Use with `with`: it is stopped at the end, in time."""

    def __init__(
        self,
        api: KubeApi,
        node: str = NODE,
        host: str = "",
        port: int = 0,
        credentials: Path | None = None,
        watch_seconds: int = 60,
        environment: dict[str, str] | None = None,
    ):
        self._log = tempfile.NamedTemporaryFile(prefix="uvtap-watch-log-")
        self.stopped_in_s: float | None = None
        self.process = subprocess.Popen(
            [
                driver(), "--host", host or api.host, "--port", str(port or api.port),
                "--credentials", credentials or api.credentials, "--node", node,
                "--watch-seconds", str(watch_seconds),
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True,
            env=os.environ | (environment or {}),
        )  # fmt: skip

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        return self.process.pid

    def find(self, *container_ids: str) -> list[list[str] | None]:
        """Of each container the namespace, pod, container, kind and name of the workload, and the
        process; None if it is not known."""
        return self._ask("find " + " ".join(container_ids))

    def state(self) -> dict:
        return self._ask("state")

    def errors(self) -> dict[str, int]:
        """Those that have occurred, by reason."""
        return {reason: count for reason, count in self.state()["errors"].items() if count}

    def await_that(
        self, condition: Callable[[], object], what: str = "", within_s: float = 20.0
    ) -> None:
        deadline = time.monotonic() + within_s
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(
                    f"not within {within_s} s: {what}\n{self.state()}\n{self.log()[-2000:]}"
                )
            time.sleep(POLL_S)

    def await_synced(self) -> None:
        self.await_that(lambda: self.state()["synced"], "a list has been taken over")

    def await_known(self, container_id: str, pod: str | None) -> None:
        """Until the container belongs to this pod; None: to none."""

        def known() -> bool:
            found = self.find(container_id)[0]
            return (found and found[1]) == pod

        self.await_that(known, f"{container_id} belongs to {pod}")

    def log(self) -> str:
        return Path(self._log.name).read_text(errors="replace")

    def stop(self) -> None:
        """AssertionError unless it ends well."""
        if self.stopped_in_s is not None:
            return
        try:
            output, _ = self.process.communicate(timeout=STOP_WITHIN_S)
            self.stopped_in_s = json.loads(output)["stopped_in_seconds"]
        except (subprocess.TimeoutExpired, ValueError) as error:
            raise AssertionError(f"it does not stop well: {self.log()[-4000:]}") from error
        finally:
            self.process.kill()
            self.process.wait()
            self._log.close()
        if self.process.returncode != 0:
            raise AssertionError(f"it ended with {self.process.returncode}")

    def resources(self) -> dict[str, int]:
        """What it has open: descriptors, threads."""
        folder = Path(f"/proc/{self.pid}")
        return {
            "descriptors": len(list((folder / "fd").iterdir())),
            "threads": len(list((folder / "task").iterdir())),
        }

    def resident_bytes(self, peak: bool = False) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text()
        name = "VmHWM" if peak else "VmRSS"
        return int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) * 1024

    def _ask(self, question: str):
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise AssertionError(f"the driver has ended: {self.log()[-4000:]}")
        return json.loads(answer)
