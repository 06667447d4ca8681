# SPDX-License-Identifier: Apache-2.0
"""One run: who takes part, for how long, and what is looked at."""

import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from ..apps import App
from ..compare.measure import DAEMON_PRIORITY
from ..kube_api import KubeApi
from ..load import SHAPES, Clients
from ..nodes import doors_of, node
from ..pod_cgroup import in_pod
from ..pods import NAMESPACE, NODE_NAME, deployment
from ..uvtap import Uvtap
from . import disturbers, slots
from .accounts import Accounts
from .crowd_program import CrowdProgram
from .disturbers import Disturber, PrometheusComesAndGoes
from .report import Report
from .settings import DOORS, TINY_LOOPS, Settings
from .surroundings import FULL_DISK, SteppedClock, memory_limit
from .troubles import Troubles
from .victims import Victim
from .watched_uvtap import WatchedUvtap
from .witness import STRICT_FILTER, Witness

LOOK_EVERY_S = 1.0
BUSY = ("22", "mixed", 10)  # build, load, real-time priority
WITNESSES = {
    "witness 22": ("22", ()),
    "witness 24-stripped": ("24-stripped", ()),
    "witness 22 under the strict filter": ("22", STRICT_FILTER),
    "witness 26 under the strict filter": ("26", STRICT_FILTER),
}
BUILDS = ("16", "18", "20", "22", "24", "24-stripped", "26")


class Run:
    """Use once: `Run(settings).report()`."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self._stays = ExitStack()  # applications and watched uvtaps, to the very end
        self._comes = ExitStack()  # all that disturbs

    def report(self) -> Report:
        with TemporaryDirectory(prefix="uvtap-chaos-") as folder, self._stays:
            self._folder = Path(folder)
            self._troubles = Troubles(self._folder / "events")
            self._start_what_stays()
            with self._comes:
                self._start_what_comes()
                self._look_on()
                self._end_crowd()
            self._check_what_is_left()
            return self._summary()

    # who takes part

    def _start_what_stays(self) -> None:
        enter = self._stays.enter_context
        self._limit = enter(memory_limit())
        self._api = enter(KubeApi())
        self._clock = SteppedClock(self._folder)
        self._witnesses = [
            enter(Witness(name, node(build), self._troubles, prefix))
            for name, (build, prefix) in WITNESSES.items()
        ]
        build, load, priority = BUSY
        self._busy = enter(App(node(build), load, priority))
        enter(Clients(self._busy.port, SHAPES[load]))
        named = self._witnesses[0].pid
        pods = {named: enter(in_pod(self._api, deployment("witness"), named, NAMESPACE))}
        main = enter(self._main_uvtap())
        tiny = enter(Uvtap(arguments=("--max-loops", str(TINY_LOOPS)), prefix=FULL_DISK))
        pids = self._living("auto")
        main.await_observed(*pids)
        self._main = WatchedUvtap("the undisturbed uvtap", main, self._troubles, pids, pods)
        self._tiny = WatchedUvtap("the tiny uvtap", tiny, self._troubles)
        for watched in (self._main, self._tiny):
            watched.remember()

    def _main_uvtap(self) -> Uvtap:
        """Undisturbed, but for whom it talks to, its clock and its memory."""
        api = ("env", f"KUBERNETES_SERVICE_HOST={self._api.host}",
               f"KUBERNETES_SERVICE_PORT={self._api.port}")  # fmt: skip
        limit = self._limit.prefix if self._limit else ()
        priority = ("chrt", "-f", str(DAEMON_PRIORITY))
        return Uvtap(
            arguments=("--kubernetes", "api", "--node-name", NODE_NAME,
                       "--kubernetes-credentials", str(self._api.credentials)),
            prefix=(*api, *limit, *priority, *self._clock.prefix),
        )  # fmt: skip

    def _start_what_comes(self) -> None:
        settings, enter = self._settings, self._comes.enter_context
        self._accounts = enter(
            Accounts(self._main.uvtap, self._busy, settings.window_s, self._troubles)
        )
        self._victims = [
            enter(Victim(door, settings.seed + number, settings.victim_lives_s,
                         self._living(door), self._troubles))
            for door in DOORS for number in range(settings.victims_per_door)
        ]  # fmt: skip
        self._crowd, self._disturbers = None, []
        if settings.rate:
            self._crowd = enter(CrowdProgram(settings, self._folder / "events"))
            self._disturbers = [enter(each) for each in self._all_disturbers()]

    def _all_disturbers(self) -> list[Disturber]:
        seed, troubles = self._settings.seed, self._troubles
        ports = [watched.uvtap.port for watched in (self._main, self._tiny)]
        all_acts = {
            "the API server": (disturbers.api_server_acts(self._api), (0.3, 2.0)),
            "scrapers": (disturbers.scraper_acts(ports, seed), (0.05, 0.5)),
            "the clock of the undisturbed uvtap": (disturbers.clock_acts(self._clock), (0.5, 3.0)),
        }
        if self._settings.prometheus:
            prometheus = self._comes.enter_context(PrometheusComesAndGoes(ports[0]))
            all_acts["Prometheus"] = (prometheus.acts(), (5.0, 15.0))
        if self._settings.step_machine_clock:
            all_acts["the machine's clock"] = (disturbers.machine_clock_acts(), (10.0, 20.0))
        return [
            Disturber(name, acts, every_s, seed, troubles)
            for name, (acts, every_s) in all_acts.items()
        ]

    def _living(self, door: str) -> list[int]:
        """The processes that are always there and that this door can observe."""
        builds = [(self._busy.pid, BUSY[0])]
        builds += [(each.pid, WITNESSES[each.name][0]) for each in self._witnesses]
        return [pid for pid, build in builds if door == "auto" or door in doors_of(build)]

    # what happens

    def _look_on(self) -> None:
        due = time.monotonic()
        end = due + self._settings.seconds
        while due < end:
            self._main.look()
            self._tiny.look()
            due = max(due + LOOK_EVERY_S, time.monotonic())
            self._main.uvtap.pause(max(0.0, due - time.monotonic()))

    def _end_crowd(self) -> None:
        self._counts, self._seconds = self._crowd.end() if self._crowd else ({}, 0.0)

    def _check_what_is_left(self) -> None:
        self._main.check_drained()
        self._tiny.check_drained()
        with self._troubles.noted("the tiny uvtap's slots"):
            slots.check_all_usable(self._tiny.uvtap)
        self._tiny.look()

    # what is told

    def _summary(self) -> Report:
        settings = self._settings
        report = Report(f"Seed {settings.seed}, {settings.seconds:.0f} s.", self._troubles.found)
        if self._crowd:
            happened = sum(self._counts.values())
            report.add("events", f"{happened:,}, {happened / self._seconds:.0f} a second")
            report.add_counts("of them", self._counts)
        for disturber in self._disturbers:
            report.add_counts(disturber.name, disturber.counts)
        for victim in self._victims:
            report.add(f"uvtap, {victim.door}", victim.in_words())
        for watched in (self._main, self._tiny):
            report.add(watched.name, watched.in_words())
            report.add_counts(f"{watched.name}: lost", watched.lost)
        report.add("the busy application", self._accounts.in_words())
        for witness in self._witnesses:
            report.add(witness.name, witness.in_words())
        if self._limit:
            report.add("memory of the undisturbed uvtap's cgroup", self._limit.in_words())
        return report
