# SPDX-License-Identifier: Apache-2.0
"""Uvtaps that are killed at any moment and started again, as often as it goes."""

import random
import signal
import time

from .. import bpf_objects
from ..kube_node import PATIENCE
from ..metrics import Exposition
from ..uvtap import Uvtap
from . import diagnosis
from .background import Background
from .troubles import Troubles

# With the machine as crowded as it is; how long it takes is in the table.
READY_WITHIN_S = 60.0 * PATIENCE
COUNTS_WITHIN_S = 10.0 * PATIENCE
KILL_SHARE = 0.8  # the others are asked to end
DURING_START_SHARE = 0.2
FREED_WITHIN_S = 15.0 * PATIENCE
ENDS_WITHIN_S = 30.0 * PATIENCE


class Victim(Background):
    """One front door. Use with `with`. Each time that it is ready it must soon count the turns of
    every witness, and when it is gone the kernel must have freed what it held."""

    def __init__(
        self, door: str, seed: int, lives_s: tuple[float, float], witnesses: list[int],
        troubles: Troubles,
    ):  # fmt: skip
        super().__init__()
        self.door = door
        self.starts = self.killed = 0
        self.slowest_count_s = 0.0
        self._draw = random.Random(f"{door} {seed}")
        self._lives_s, self._witnesses, self._troubles = lives_s, witnesses, troubles

    def in_words(self) -> str:
        return (
            f"started {self.starts} times, killed {self.killed} times; it counted every witness "
            f"{self.slowest_count_s:.1f} s after it was ready at the latest"
        )

    def run(self) -> None:
        while not self._done.is_set():
            with self._troubles.noted(f"victim {self.door}"):
                self._live()

    def _live(self) -> None:
        self.starts += 1
        uvtap = Uvtap(self.door, 5)
        try:
            if during_start := self._draw.random() < DURING_START_SHARE:
                self._done.wait(self._draw.uniform(0, 0.5))
            else:
                self._count(uvtap)
                self._done.wait(self._draw.uniform(*self._lives_s))
            self._end(uvtap, (0, -signal.SIGTERM) if during_start else (0,))
        finally:
            uvtap.stop()

    def _count(self, uvtap: Uvtap) -> None:
        try:
            uvtap.await_ready(READY_WITHIN_S)
            ready_s = time.monotonic()
            uvtap.await_that(self._counts_all, "counts turns of all witnesses", COUNTS_WITHIN_S)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{diagnosis.of(uvtap)}") from error
        self.slowest_count_s = max(self.slowest_count_s, time.monotonic() - ready_s)

    def _counts_all(self, said: Exposition) -> bool:
        name = "nodejs_eventloop_turns_total"
        return all(said.value_if_there(name, pid) > 0 for pid in self._witnesses)

    def _end(self, uvtap: Uvtap, well: tuple[int, ...]) -> None:
        """`well`: how it may end if it is asked to. Before its main() it does not catch signals."""
        held = bpf_objects.held_by(uvtap.pid)
        if self._draw.random() >= KILL_SHARE:
            uvtap.process.send_signal(signal.SIGTERM)
            if (code := uvtap.process.wait(ENDS_WITHIN_S)) not in well:
                raise AssertionError(f"it ended with {code}:\n{uvtap.log()[-2000:]}")
        else:
            self.killed += 1
            uvtap.process.kill()
            uvtap.process.wait(ENDS_WITHIN_S)
        bpf_objects.await_freed(held, FREED_WITHIN_S)
