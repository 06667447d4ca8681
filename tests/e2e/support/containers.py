# SPDX-License-Identifier: Apache-2.0
"""Runs containers on this machine the way containerd does under a kubelet: image layers under
overlayfs, runc, and cgroups of the kubelet's form. No daemon, no registry, no network.

All of it lives in a mount namespace of the test's own, on a tmpfs there: nobody else sees it, and
it vanishes with the test.
"""

import json
import os
import secrets
import select
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from . import tier, warden
from .nodes import REPOSITORY, node
from .oci import Process, write_spec
from .seccomp import PROFILE

_SCRATCH = REPOSITORY / "build" / "containers"
_ENTERED = "UVTAP_E2E_OWN_MOUNTS"
COMMANDS = ("runc", "busybox", "unshare")


def obstacle() -> str | None:
    """Why there can be no containers here; None if there can."""
    gone = [command for command in COMMANDS if not shutil.which(command)]
    if not PROFILE.exists():
        gone.append(str(PROFILE))
    return f"needs {', '.join(gone)}" if gone else None


def enter_own_mounts() -> None:
    """Starts this program anew in a mount namespace of its own, with a tmpfs to keep all in."""
    if os.environ.get(_ENTERED):
        tmpfs = ["mount", "-t", "tmpfs", "-o", "mode=755", "uvtap", _SCRATCH]
        subprocess.run(tmpfs, check=True)
        return
    os.environ[_ENTERED] = "1"
    _SCRATCH.mkdir(parents=True, exist_ok=True)
    own = ["unshare", "--mount", "--propagation", "private"]
    os.execvp(own[0], [*own, sys.executable, "-B", *sys.argv])


def scratch(name: str) -> Path:
    """A folder on that tmpfs."""
    folder = _SCRATCH / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@dataclass(frozen=True)
class Image:
    """Folders, the topmost first; containers of one image share their files' inodes."""

    layers: tuple[Path, ...]
    node: str = ""  # where Node.js is in it


class Container:
    """A running one. What it reads and writes on its standard streams are lines of JSON."""

    def __init__(self, name: str, bundle: Path, cgroup: str):
        self.id = name
        self.cgroup = cgroup
        self._lock = Lock()
        self._bundle = bundle
        with self._log.open("w") as log:
            run = ["runc", "--root", scratch("runc"), "run", "--detach"]
            self._streams = subprocess.Popen(
                [*run, "--pid-file", bundle / "pid", "--bundle", bundle, name],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        if self._streams.wait() != 0:
            raise AssertionError(f"runc: {self.log()}")
        self.pid = int((bundle / "pid").read_text())
        self._first_process = os.pidfd_open(self.pid)

    @property
    def _log(self) -> Path:
        return self._bundle / "log"

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def ask(self, command: str) -> dict:
        with self._lock:
            self._streams.stdin.write(command + "\n")
            self._streams.stdin.flush()
            return self.read()

    def read(self) -> dict:
        line = self._streams.stdout.readline()
        if not line:
            raise AssertionError(f"container {self.cgroup} has ended:\n{self.log()}")
        return json.loads(line)

    def await_end(self, within_s: float) -> bool:
        """Whether its first process has ended, at the latest after so many seconds."""
        return bool(select.select([self._first_process], [], [], within_s)[0])

    def remove(self) -> None:
        """Kills all its processes; then it is gone, its cgroup too."""
        warden.remove(scratch("runc"), self.id)
        os.close(self._first_process)
        self._streams.stdin.close()
        self._streams.stdout.close()
        subprocess.run(["umount", self._bundle / "rootfs"], check=True)
        shutil.rmtree(self._bundle)


class Containers:
    """Use with `with`: all that were started are removed at the end, or when the test is killed."""

    def __enter__(self) -> "Containers":
        self._running: list[Container] = []
        self._warden = subprocess.Popen(
            [sys.executable, "-B", warden.__file__, scratch("runc")],
            stdin=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        return self

    def __exit__(self, *_) -> None:
        while self._running:
            self.remove(self._running[-1])
        self._warden.stdin.close()
        self._warden.wait()

    def start(self, image: Image, cgroup: str, process: Process) -> Container:
        """`cgroup`: its path, with {id} where the container's id is to be."""
        name = secrets.token_hex(32)
        bundle = scratch(f"bundles/{name}")
        _mount_root(image, bundle)
        path = cgroup.replace("{id}", name)
        write_spec(bundle, path, process)
        self._running.append(Container(name, bundle, path))
        return self._running[-1]

    def remove(self, container: Container) -> None:
        self._running.remove(container)
        container.remove()


def node_image(name: str) -> Image:
    """This build of Node.js, and a shell, on what there is of Debian."""
    debian = node("debian18").root
    if name == "debian18":
        return Image((_shell(), debian), "/usr/bin/node")
    return Image((_shell(), node(name).binary.parent, debian), "/node")


def _shell() -> Path:
    """A layer with busybox."""
    layer = scratch("shell")
    if not (layer / "bin").exists():
        (layer / "bin").mkdir()
        shutil.copy(shutil.which("busybox"), layer / "bin" / "busybox")
    return layer


def _mount_root(image: Image, bundle: Path) -> None:
    for name in ("rootfs", "upper", "work"):
        (bundle / name).mkdir()
    lower = ":".join(map(str, image.layers))
    options = f"lowerdir={lower},upperdir={bundle}/upper,workdir={bundle}/work"
    mount = ["mount", "-t", "overlay", "-o", options, "overlay", bundle / "rootfs"]
    subprocess.run(mount, check=True)


def main(nodes: tuple[str, ...]) -> None:
    """The last line of a test file that uses containers."""
    if reason := obstacle():
        print(f"SKIPPED: {Path(sys.argv[0]).name}: {reason}")
        sys.exit(tier.SKIPPED)
    if os.geteuid() == 0:
        enter_own_mounts()
    tier.main(nodes)
