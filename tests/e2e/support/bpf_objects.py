# SPDX-License-Identifier: Apache-2.0
"""What a process holds in the kernel, as /proc and bpftool tell it."""

import json
import re
import subprocess
import time
from contextlib import suppress
from pathlib import Path

KINDS = ("map", "prog", "link")
_ID = re.compile(r"^(map|prog|link)_id:\s*(\d+)", re.MULTILINE)


LISTED_WITHIN_S = 5.0


def _bpftool(*arguments: str) -> list[dict]:
    """bpftool breaks off a list when an object of it ends meanwhile, as others' objects do; then it
    is asked again."""
    deadline = time.monotonic() + LISTED_WITHIN_S
    while True:
        late = time.monotonic() > deadline
        command = ["bpftool", "-j", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=late)
        if done.returncode == 0:
            return json.loads(done.stdout or "[]")


def held_by(pid: int) -> dict[str, set[int]]:
    """The ids of the maps, programs and links that this process has open, by kind."""
    held: dict[str, set[int]] = {kind: set() for kind in KINDS}
    for info in Path(f"/proc/{pid}/fdinfo").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            for kind, number in _ID.findall(info.read_text()):
                held[kind].add(int(number))
    return held


def await_freed(ids: dict[str, set[int]], within_s: float = 5.0) -> None:
    """The kernel frees what nobody holds a moment later."""
    deadline = time.monotonic() + within_s
    while any(ids[kind] & there for kind, there in existing().items()):
        if time.monotonic() > deadline:
            raise AssertionError(f"some are still there after {within_s} s: {ids}")


def existing() -> dict[str, set[int]]:
    return {kind: {each["id"] for each in _bpftool(kind, "show")} for kind in KINDS}


def map_keys(pid: int, name: str) -> set[int]:
    """The keys, 32-bit numbers, of this process's map of that name."""
    held = held_by(pid)["map"]
    maps = [each["id"] for each in _bpftool("map", "show") if each.get("name") == name]
    (found,) = held.intersection(maps)
    entries = _bpftool("map", "dump", "id", str(found))
    return {int.from_bytes(map(_byte, entry["key"]), "little") for entry in entries}


def _byte(text: str) -> int:
    return int(text, 16)
