# SPDX-License-Identifier: Apache-2.0
"""The manifests of daemonset/ as kubectl renders them: with what scripts/fetch-manifest-tools
brings."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .nodes import REPOSITORY

DAEMONSET = REPOSITORY / "daemonset"
PROGRAMS = REPOSITORY / "tests" / "manifests"


def tools_dir() -> Path:
    default = REPOSITORY / "build" / "manifest-tools"
    return Path(os.environ.get("UVTAP_MANIFEST_TOOLS", default)).resolve()


@dataclass(frozen=True)
class Rendered:
    """What `kubectl kustomize` makes of a folder, and what it has to complain about."""

    objects: tuple[dict, ...]
    complaints: str

    @property
    def kinds(self) -> list[str]:
        return sorted(each["kind"] for each in self.objects)

    def the(self, kind: str) -> dict:
        """The only object of that kind."""
        (found,) = [each for each in self.objects if each["kind"] == kind]
        return found

    @property
    def pod(self) -> dict:
        """The template of the DaemonSet's pods."""
        return self.the("DaemonSet")["spec"]["template"]

    @property
    def container(self) -> dict:
        (found,) = self.pod["spec"]["containers"]
        return found


def missing() -> str | None:
    """Why nothing can be rendered here; None if it can."""
    if (tools_dir() / "kubectl").exists():
        return None
    return f"{tools_dir()} has no kubectl: scripts/fetch-manifest-tools"


def render(folder: Path) -> Rendered:
    done = _run(tools_dir() / "kubectl", "kustomize", folder)
    objects = _run("node", PROGRAMS / "yaml_to_json.js", given=done.stdout).stdout
    return Rendered(tuple(json.loads(objects)), done.stderr)


def schema_errors(objects: tuple[dict, ...]) -> list[str]:
    """What the published schemas find wrong with them."""
    return json.loads(_run("node", PROGRAMS / "validate.js", given=json.dumps(objects)).stdout)


def _run(*command: str | Path, given: str = "") -> subprocess.CompletedProcess:
    done = subprocess.run(command, cwd=tools_dir(), input=given, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done
