# SPDX-License-Identifier: Apache-2.0
"""The Node.js builds under test, as scripts/fetch-nodes laid them out."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
PROGRAMS = REPOSITORY / "tests" / "programs"

OFFICIAL = ("16", "18", "20", "22", "24", "26")
ALL = OFFICIAL + ("debian18", "24-stripped")
DOORS = ("io_poll", "epoll", "tracepoint", "memory")
# io_poll needs .symtab, which these have not.
STRIPPED = ("debian18", "24-stripped")

# What Node reads from the environment (NODE_OPTIONS, …) would change what is measured.
ENVIRONMENT = {"PATH": os.environ.get("PATH", os.defpath)}


def nodes_dir() -> Path:
    return Path(os.environ.get("UVTAP_NODES", REPOSITORY / "build" / "nodes")).resolve()


def doors_of(name: str) -> tuple[str, ...]:
    """The front doors that can work on this build."""
    return DOORS[1:] if name in STRIPPED else DOORS


@dataclass(frozen=True)
class Node:
    """One build, and how to run a program of tests/programs on it."""

    name: str
    binary: Path
    root: Path | None = None  # run by chroot when set

    def command(self, program: str, *arguments: str) -> list[str]:
        if self.root is None:
            return [str(self.binary), str(PROGRAMS / program), *arguments]
        programs = _copy_into(self.root)
        return ["chroot", str(self.root), "/usr/bin/node", f"{programs}/{program}", *arguments]


def _copy_into(root: Path) -> str:
    shutil.copytree(PROGRAMS, root / "opt" / "programs", dirs_exist_ok=True)
    return "/opt/programs"


def node(name: str) -> Node:
    base = nodes_dir() / name
    if name == "debian18":
        return Node(name, base / "usr" / "bin" / "node", root=base)
    return Node(name, base / "node")


def missing(names: tuple[str, ...] = ALL) -> list[str]:
    return [name for name in names if not node(name).binary.exists()]
