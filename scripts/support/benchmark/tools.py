# SPDX-License-Identifier: Apache-2.0
"""What scripts/support/benchmark/fetch brought."""

import os
import subprocess
from pathlib import Path

from support.nodes import REPOSITORY

FOLDER = REPOSITORY / "build" / "benchmark"


def fetch() -> None:
    subprocess.run([str(Path(__file__).parent / "fetch"), str(FOLDER)], check=True)
    subprocess.run([str(REPOSITORY / "scripts" / "fetch-prometheus")], check=True)


def missing() -> bool:
    return not FOLDER.exists()


def modules() -> Path:
    """Where Node.js finds prom-client."""
    return FOLDER / "node_modules"


def haproxy() -> tuple[str, dict[str, str]]:
    """The program, and the environment that it needs."""
    root = FOLDER / "haproxy" / "usr"
    libraries = ":".join(map(str, (root / "lib").glob("*-linux-gnu")))
    return str(root / "sbin" / "haproxy"), os.environ | {"LD_LIBRARY_PATH": libraries}
