# SPDX-License-Identifier: Apache-2.0
"""Begins and ends observation: each is a context in which the application is known to be observed."""

import re
import signal
import subprocess
from contextlib import contextmanager
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
# The default of --overhead-budget, and how soon the governor keeps to it.
BUDGET_RATIO = 0.02
CALM_WITHIN_S = 15.0
# By then the governor has seen what a process costs.
SEEN_FOR_S = 3.0

Door = str
"""Through which uvtap observes; empty where something else does."""


def observed(variant: Variant, cell: Cell, node: Path, pid: int):
    """The context for this variant; its value is a function that tells the door at its end."""
    if variant is PEER:
        return _by_bpftrace(node, must_turn=not cell.workload.is_idle)
    return _by_uvtap(variant, pid, cell.workload.turns_fast)


@contextmanager
def _by_uvtap(variant: Variant, pid: int, turns_fast: bool) -> Iterator[Callable[[], Door]]:
    with Uvtap(variant.door, arguments=variant.arguments) as uvtap:
        uvtap.await_observed(pid)
        if variant.door == "auto" and turns_fast:
            uvtap.await_that(lambda now: _is_calm(now, pid), "keeps to its budget", CALM_WITHIN_S)
        yield lambda: _door(uvtap.log(), pid)


def _is_calm(now: Exposition, pid: int) -> bool:
    """The governor, where there is one, has found a door that is within the budget."""
    costs = now.find("uvtap_overhead_ratio", pid)
    if not costs:
        return True
    return now.times(pid).observed > SEEN_FOR_S and costs[0].value <= BUDGET_RATIO


def _door(log: str, pid: int) -> Door:
    """The last one it says it observes the process through."""
    doors = re.findall(rf"/{pid} .*through (\w+)", log)
    return doors[-1] if doors else ""


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
    probes = [_phase(node, each) for each in reversed(_functions(node))]
    return "\n".join([*probes, 'interval:ms:20 { printf("turns %d\\n", @turns); }'])


def _phase(node: Path, function: str) -> str:
    counter = "@turns++; " if function == PEER_FUNCTIONS[0] else ""
    start, spent = f"@start_{function}[tid]", f"@spent_{function}[pid]"
    return (
        f"uprobe:{node}:{function} {{ {counter}{start} = nsecs; }}\n"
        f"uretprobe:{node}:{function} /{start}/ "
        f"{{ {spent} = hist(nsecs - {start}); delete({start}); }}"
    )


def _functions(node: Path) -> list[str]:
    output = subprocess.run(["nm", str(node)], capture_output=True, text=True, check=True).stdout
    there = {line.split()[-1] for line in output.splitlines()}
    return [each for each in PEER_FUNCTIONS if each in there]
