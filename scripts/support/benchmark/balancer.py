# SPDX-License-Identifier: Apache-2.0
"""HAProxy in front of the pods: one listener for each lane, with slots that pods are put into."""

import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Iterable

from support.uvtap import free_port

from . import tools

SLOTS = 60  # pods of a lane, those that are ending among them
READY_WITHIN_S = 10.0

_HEAD = """
global
    stats socket {folder}/socket mode 600 level admin
    nbthread 1
    maxconn 4000

defaults
    mode http
    timeout connect 5s
    timeout client 75s
    timeout server 75s
    # The request that is least likely to wait: few others are with its pod.
    balance leastconn
"""
_LANE = """
listen {lane}
    bind 127.0.0.1:{port}
    server-template pod 1-{slots} 127.0.0.1:9 disabled
"""


class Balancer:
    """Use with `with`."""

    def __init__(self, lanes: Iterable[str]):
        self.ports = {lane: free_port() for lane in lanes}
        self._free = {lane: list(range(SLOTS, 0, -1)) for lane in self.ports}
        self._folder = tempfile.TemporaryDirectory(prefix="uvtap-balancer-")
        self._socket = str(Path(self._folder.name) / "socket")
        self._log = Path(self._folder.name) / "log"

    def __enter__(self) -> "Balancer":
        configuration = Path(self._folder.name) / "haproxy.cfg"
        lanes = (
            _LANE.format(lane=lane, port=port, slots=SLOTS) for lane, port in self.ports.items()
        )
        configuration.write_text(_HEAD.format(folder=self._folder.name) + "".join(lanes))
        program, environment = tools.haproxy()
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", program, "-db", "-f", str(configuration)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
            )  # fmt: skip
        self._await_ready()
        return self

    def __exit__(self, *_) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()

    def add(self, lane: str, port: int) -> int:
        """From now on this pod gets requests. Returns its slot."""
        slot = self._free[lane].pop()
        server = f"{lane}/pod{slot}"
        self._say(f"set server {server} addr 127.0.0.1 port {port}")
        self._say(f"set server {server} state ready")
        return slot

    def unlist(self, lane: str, slot: int) -> None:
        """It gets no new requests, and finishes those it has."""
        self._say(f"set server {lane}/pod{slot} state drain")

    def free(self, lane: str, slot: int) -> None:
        """It has ended."""
        self._say(f"set server {lane}/pod{slot} state maint")
        self._free[lane].insert(0, slot)

    def _say(self, command: str) -> str:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self._socket)
            connection.sendall(f"{command}\n".encode())
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile() as answer:
                return answer.read()

    def _await_ready(self) -> None:
        deadline = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(OSError):
                self._say("show info")
                return
            time.sleep(0.05)
        raise AssertionError(f"HAProxy is not ready:\n{self._log.read_text()}")
