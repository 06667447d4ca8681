# SPDX-License-Identifier: Apache-2.0
"""Runs a workload's lanes side by side, and shows how they get on."""

import os
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Barrier, BrokenBarrierError, Event
from typing import Callable

from .lane import Lane, Record, Start
from .machine import Machine
from .pace import Pace
from .scenarios import ALL
from .witness import EVERY_S, Witness
from .workloads import Workload

PREPARED_WITHIN_S = 60.0
SAY_EVERY_S = 15.0


@dataclass(frozen=True)
class Result:
    """`cpu_share`: of all CPUs of the machine, while the load ran."""

    workload: Workload
    records: list[Record]
    cpu_share: float
    load_before: float


def run(workload: Workload, pace: Pace, seed: int, say: Callable[[str], None]) -> Result:
    """All scenarios of the workload."""
    keys = list(workload.scenarios)
    groups = [keys] if workload.together else [[key] for key in keys]
    load_before = os.getloadavg()[0]
    records, shares = [], []
    for group in groups:
        say(f"{workload.title}: {', '.join(group)}, {workload.length_s:.0f} s")
        found, share = _side_by_side(workload, group, pace, seed, say)
        records += found
        shares.append(share)
    return Result(workload, records, sum(shares) / len(shares), load_before)


def _side_by_side(
    workload: Workload, keys: list[str], pace: Pace, seed: int, say: Callable[[str], None]
) -> tuple[list[Record], float]:
    scenarios = [ALL[key] for key in keys]
    with Machine(scenarios, pace) as machine, ExitStack() as ending:
        lanes = [Lane(each, workload, machine, seed) for each in scenarios]
        group = _Group(lanes)
        pool = ending.enter_context(ThreadPoolExecutor(len(lanes)))
        ending.callback(group.stop.set)  # before the pool waits for its threads
        futures = [pool.submit(group.live, lane) for lane in lanes]
        start = group.begin(futures)
        used = _cpu_seconds()
        _watch(machine, lanes, futures, start, say)
        span_s = start.now_s()
        records = [each.result() for each in futures]
        return records, (_cpu_seconds() - used) / span_s / os.cpu_count()


class _Group:
    """Lanes that begin together and end together."""

    def __init__(self, lanes: list[Lane]):
        self.stop = Event()
        self._start: Start | None = None
        self._ready = Barrier(len(lanes) + 1, self._mark, timeout=PREPARED_WITHIN_S)

    def begin(self, futures: list[Future]) -> Start:
        """Returns when all lanes are prepared; raises what one of them has raised."""
        try:
            self._ready.wait()
        except BrokenBarrierError:
            for each in wait(futures).done:
                if not isinstance(each.exception(), BrokenBarrierError):
                    each.result()
            raise
        return self._start

    def live(self, lane: Lane) -> Record:
        """The whole life of a lane, in a thread of its own."""
        try:
            lane.prepare(self.stop)
            self._ready.wait()
            return lane.run(self._start, self.stop)
        except BaseException:
            self._ready.abort()
            self.stop.set()
            raise
        finally:
            lane.close()

    def _mark(self) -> None:
        self._start = Start()


def _watch(machine: Machine, lanes: list[Lane], futures: list, start: Start, say) -> None:
    """Until all lanes have ended."""
    witness = Witness(machine.uvtap)
    said_s = 0.0
    while True:
        looks = witness.look(start.now_s(), {each.namespace: each.ready_pods() for each in lanes})
        for lane in lanes:
            if lane.namespace in looks:
                lane.record.looks.append(looks[lane.namespace])
        if (now_s := start.now_s()) >= said_s + SAY_EVERY_S:
            said_s = now_s
            say(f"  {now_s:4.0f} s  " + "   ".join(map(_state, lanes)))
        if not wait(futures, timeout=EVERY_S).not_done:
            return


def _state(lane: Lane) -> str:
    """Pods that are ready, that are wanted, and how busy they are."""
    sizes, looks = lane.record.sizes, lane.record.looks
    ready, wanted = (sizes[-1].ready, sizes[-1].wanted) if sizes else (0, 0)
    busy = looks[-1].utilization if looks else 0
    return f"{lane.record.scenario.key} {ready:>2}/{wanted:<2} {busy:4.0%}"


def _cpu_seconds() -> float:
    """Of the whole machine, all but idle and I/O wait, so far."""
    with open("/proc/stat", encoding="ascii") as stat:
        fields = [int(each) for each in stat.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")
