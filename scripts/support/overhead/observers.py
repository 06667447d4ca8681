# SPDX-License-Identifier: Apache-2.0
"""Begins and ends observation: each is a context in which the application is known to be observed."""

import re
import signal
import subprocess
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Callable, Iterator

from support.metrics import Exposition
from support.uvtap import Uvtap

from .plan import PEER, Cell, Variant

# What a tool that measures the phases of a turn would attach to, as far as a build has them as
# functions of their own.
PEER_FUNCTIONS = (
    "uv__io_poll", "uv__run_timers", "uv__run_idle", "uv__run_prepare", "uv__run_check",
    "uv__run_closing_handles",
)  # fmt: skip
# By then the governor has acted on what a process costs.
SETTLED_AFTER_S = 4.0

Door = str
"""Through which uvtap observes; empty where something else does."""


def observed(variant: Variant, cell: Cell, node: Path, pid: int):
    """The context for this variant; its value is a function that tells the door at its end."""
    if variant is PEER:
        return _by_bpftrace(node, must_turn=not cell.workload.is_idle)
    return _by_uvtap(variant, pid, cell.has_to_settle(variant))


@contextmanager
def _by_uvtap(variant: Variant, pid: int, has_to_settle: bool) -> Iterator[Callable[[], Door]]:
    with Uvtap(variant.door, arguments=variant.arguments) as uvtap:
        uvtap.await_observed(pid)
        if has_to_settle:
            uvtap.await_that(lambda now: _has_settled(now, pid), "has settled")
        yield lambda: _door(uvtap.scrape(), pid)


def _has_settled(now: Exposition, pid: int) -> bool:
    return now.times(pid).observed > SETTLED_AFTER_S


def _door(now: Exposition, pid: int) -> Door:
    found = [each for each in now.find("uvtap_loops", pid) if each.value > 0]
    return found[0].labels["front_door"] if found else ""


@contextmanager
def _by_bpftrace(node: Path, must_turn: bool) -> Iterator[Callable[[], Door]]:
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "bpftrace", "-e", _peer_program(node)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        _await_turns(process, must_turn)
        yield lambda: ""
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def _await_turns(process: subprocess.Popen, must_turn: bool) -> None:
    """Until it has seen turns; of a loop that does not turn: until it looks for them."""
    for line in process.stdout:
        count = re.match(r"turns (\d+)", line)
        if count and (int(count[1]) > 0 or not must_turn):
            return
    raise RuntimeError("bpftrace has ended; `bpftrace -l` tells whether it works here")


def _peer_program(node: Path) -> str:
    """Counts and a histogram of each phase, as such tools keep them. The exit of the first function
    is the last to be attached but one, so that whoever sees turns has all probes."""
    probes = [_phase(node, *each) for each in reversed(_functions(node).items())]
    return "\n".join([*probes, 'interval:ms:20 { printf("turns %d\\n", @turns); }'])


def _phase(node: Path, function: str, address: str) -> str:
    counter = "@turns++; " if function == PEER_FUNCTIONS[0] else ""
    start, spent = f"@start_{function}[tid]", f"@spent_{function}[pid]"
    return (
        f"uprobe:{node}:{address} {{ {counter}{start} = nsecs; }}\n"
        f"uretprobe:{node}:{address} /{start}/ "
        f"{{ {spent} = hist(nsecs - {start}); delete({start}); }}"
    )


@cache
def _functions(node: Path) -> dict[str, str]:
    """Their addresses: bpftrace reads all symbols again for each that is given by its name."""
    output = subprocess.run(["nm", str(node)], capture_output=True, text=True, check=True).stdout
    symbols = re.findall(r"^(\w+) \w (\w+)$", output, re.MULTILINE)
    addresses = {name: f"0x{address}" for address, name in symbols}
    return {each: addresses[each] for each in PEER_FUNCTIONS if each in addresses}
