# SPDX-License-Identifier: Apache-2.0
"""Runs applications side by side under several daemons and notes what both say.

Each daemon is forced to one front door, and all of them watch the same processes at the same time:
so the doors are compared with each other as well, and what one door costs is felt by all.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

from ..apps import App, Reading
from ..load import SHAPES, Clients
from ..nodes import doors_of, node
from ..uvtap import Uvtap
from .matrix import Case, priority
from .observe import Window, watch

WARM_UP_S = 2.0
# The harness stands above applications that are never idle. It would otherwise ask the others late,
# and its clients would pause for longer than they mean to.
OWN_PRIORITY = 30
DAEMON_PRIORITY = 25


@dataclass(frozen=True)
class Share:
    """A utilization, twice."""

    own: float
    uvtap: float


@dataclass(frozen=True)
class Delay:
    """A figure of the delay, twice."""

    own: Reading
    uvtap: float  # NaN: it does not say


@dataclass(frozen=True)
class Measured:
    """A case seen through one door."""

    case: Case
    door: str
    version: str
    utilization: Share
    gauge: Share  # the same utilization, as uvtap's gauge says it
    worker: Share | None  # of the Worker, if there is one
    delay: dict[str, Delay]


def start_daemon(door: str, window_s: int) -> Uvtap:
    """Above the applications as well: they leave a normal process no CPU for tens of milliseconds,
    and what the memory door sees depends on when it looks."""
    return Uvtap(door, window_s, prefix=("chrt", "-f", str(DAEMON_PRIORITY)))


def measure(cases: list[Case], daemons: list[Uvtap], window_s: int) -> list[Measured]:
    """Lets the cases run side by side for one window."""
    with ExitStack() as running:
        apps = {case: _start(case, running) for case in cases}
        daemons = [each for each in daemons if _watched(each, apps)]
        for each in daemons:
            each.await_observed(*(app.pid for app in _watched(each, apps)))
        daemons[0].pause(WARM_UP_S)
        with ThreadPoolExecutor() as pool:
            observed = pool.map(lambda each: watch(each, list(apps.values()), window_s), daemons)
        windows = list(zip(daemons, observed))
        return [
            _measured(case, app, each.door, window)
            for case, app in apps.items()
            for each, window in windows
            if each.door in doors_of(case.node)
        ]


def _start(case: Case, running: ExitStack) -> App:
    """Starts the application, and its clients if it has any."""
    app = running.enter_context(App(node(case.node), case.load, priority(case)))
    if case.load in SHAPES:
        running.enter_context(Clients(app.port, SHAPES[case.load]))
    return app


def _watched(by: Uvtap, apps: dict[Case, App]) -> list[App]:
    return [app for case, app in apps.items() if by.door in doors_of(case.node)]


def _measured(case: Case, app: App, door: str, window: Window) -> Measured:
    said, own = window.end.exposition, window.end.marks[app.pid]
    own_share = window.own_times(app.pid).utilization
    return Measured(
        case=case,
        door=door,
        version=app.version,
        utilization=Share(own_share, window.times(app.pid).utilization),
        gauge=Share(own_share, said.value_if_there("nodejs_eventloop_utilization", app.pid)),
        worker=_worker(window, app.pid) if own.workers else None,
        delay={
            name: Delay(
                reading, said.value_if_there(f"nodejs_eventloop_delay_{name}_seconds", app.pid)
            )
            for name, reading in own.delay.items()
        },
    )


def _worker(window: Window, pid: int) -> Share:
    said = window.times(pid, "nodejs_worker_eventloop").utilization
    return Share(window.own_worker_times(pid).utilization, said)
