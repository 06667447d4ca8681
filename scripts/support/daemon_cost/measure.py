# SPDX-License-Identifier: Apache-2.0
"""Measures what a daemon costs that observes so many processes."""

import re
import statistics
import time
from dataclasses import dataclass, fields
from datetime import datetime

from support.uvtap import Uvtap

from . import fleet
from .fleet import Fleet
from .process import cpu_seconds, memory_bytes

OBSERVED_WITHIN_S = 120
NEWCOMER_WITHIN_S = 30
POLL_S = 0.02
_ATTACHED = r"^(\S+) info +observing \S+/{pid} "


@dataclass(frozen=True)
class Pace:
    """How long things are looked at. `settle_s` is long enough for every window to be full."""

    settle_s: float = 17
    span_s: float = 20
    scrape_apart_s: float = 5
    scrapes: int = 100
    newcomers: int = 9


SHORT = Pace(settle_s=2, span_s=3, scrape_apart_s=1, scrapes=10, newcomers=1)


@dataclass(frozen=True)
class Figures:
    """One row of the table."""

    processes: int
    cpu_percent: float  # of one CPU, nobody scrapes
    cpu_us_per_loop_and_tick: float
    cpu_scraped_percent: float  # scraped every five seconds
    cpu_ms_per_scrape: float
    resident_mb: float
    peak_mb: float
    scrape_p50_ms: float
    scrape_p99_ms: float
    exposition_kb: float
    attach_median_s: float  # from exec
    attach_max_s: float
    first_sample_median_s: float  # from exec
    first_sample_max_s: float


NAMES = tuple(each.name for each in fields(Figures))


@dataclass(frozen=True)
class Scrapes:
    seconds: list[float]
    cpu_s: float  # of each
    bytes: int


@dataclass(frozen=True)
class Newcomer:
    """What a process just started has to wait for, in seconds from its exec."""

    attach_s: float
    first_sample_s: float


def measure(apps: Fleet, count: int, pace: Pace) -> Figures:
    apps.grow_to(count)
    with apps.observer() as uvtap:
        uvtap.await_that(lambda now: _loops(now) >= count, f"{count} loops", OBSERVED_WITHIN_S)
        uvtap.pause(pace.settle_s)
        quiet = _share_of_cpu(uvtap, pace.span_s)
        scraped = _share_of_cpu(uvtap, pace.span_s, pace.scrape_apart_s)
        scrapes = _scrape(uvtap, pace.scrapes, quiet)
        newcomers = [_newcomer(uvtap, (i + 0.5) / pace.newcomers) for i in range(pace.newcomers)]
        resident, peak = memory_bytes(uvtap.pid)
    attach = [each.attach_s for each in newcomers]
    first_sample = [each.first_sample_s for each in newcomers]
    return Figures(
        processes=count,
        cpu_percent=quiet * 100,
        cpu_us_per_loop_and_tick=quiet / count * 1e6,  # there is a tick each second
        cpu_scraped_percent=scraped * 100,
        cpu_ms_per_scrape=scrapes.cpu_s * 1e3,
        resident_mb=resident / 1e6,
        peak_mb=peak / 1e6,
        scrape_p50_ms=statistics.median(scrapes.seconds) * 1e3,
        scrape_p99_ms=_percentile(scrapes.seconds, 99) * 1e3,
        exposition_kb=scrapes.bytes / 1e3,
        attach_median_s=statistics.median(attach),
        attach_max_s=max(attach),
        first_sample_median_s=statistics.median(first_sample),
        first_sample_max_s=max(first_sample),
    )


def _loops(now) -> float:
    return now.total("nodejs_eventloop_loops", namespace=fleet.NAMESPACE)


def _share_of_cpu(uvtap: Uvtap, span_s: float, scrape_apart_s: float = 0) -> float:
    begin, cpu = time.monotonic(), cpu_seconds(uvtap.pid)
    while (left_s := begin + span_s - time.monotonic()) > 0:
        uvtap.pause(min(scrape_apart_s or span_s, left_s))
        if scrape_apart_s:
            uvtap.get("/metrics")
    return (cpu_seconds(uvtap.pid) - cpu) / (time.monotonic() - begin)


def _scrape(uvtap: Uvtap, times: int, quiet: float) -> Scrapes:
    """`quiet`: what share of a CPU the daemon takes otherwise."""
    seconds, size = [], 0
    begin, cpu = time.monotonic(), cpu_seconds(uvtap.pid)
    for _ in range(times):
        uvtap.pause(POLL_S)
        asked = time.monotonic()
        size = len(uvtap.get("/metrics")[1])
        seconds.append(time.monotonic() - asked)
    otherwise_s = quiet * (time.monotonic() - begin)
    return Scrapes(seconds, (cpu_seconds(uvtap.pid) - cpu - otherwise_s) / times, size)


def _newcomer(uvtap: Uvtap, phase: float) -> Newcomer:
    """Starts a process at that part of a second, since the daemon ticks at whole ones."""
    uvtap.pause((phase - time.monotonic()) % 1)
    begin, clock = time.monotonic(), time.time()
    process = fleet.start("idle")
    try:
        first_sample_s = _await_utilization(uvtap, process.pid) - begin
        return Newcomer(_attached_at(uvtap, process.pid) - clock, first_sample_s)
    finally:
        fleet.end(process)


def _await_utilization(uvtap: Uvtap, pid: int) -> float:
    wanted = re.compile(rf'^nodejs_eventloop_utilization{{.*/{pid}"}}', re.MULTILINE)
    deadline = time.monotonic() + NEWCOMER_WITHIN_S
    while time.monotonic() < deadline:
        uvtap.pause(POLL_S)
        if wanted.search(uvtap.get("/metrics")[1]):
            return time.monotonic()
    raise AssertionError(f"no utilization of process {pid} within {NEWCOMER_WITHIN_S} s")


def _attached_at(uvtap: Uvtap, pid: int) -> float:
    """When the daemon began to observe it, by its log."""
    said = re.search(_ATTACHED.format(pid=pid), uvtap.log(), re.MULTILINE)
    if not said:
        raise AssertionError(f"the log does not say when process {pid} was observed")
    return datetime.fromisoformat(said[1]).timestamp()


def _percentile(values: list[float], percent: int) -> float:
    """By nearest rank."""
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)]
