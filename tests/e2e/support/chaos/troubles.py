# SPDX-License-Identifier: Apache-2.0
"""What went wrong, from any thread, with what had happened just before."""

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Iterator

KEPT = 50
EVENTS_SHOWN = 15


class Troubles:
    def __init__(self, crowd_log: Path | None = None):
        self.found: list[str] = []
        self._crowd_log = crowd_log
        self._begin_s = time.monotonic()
        self._lock = Lock()

    def add(self, what: str) -> None:
        """Told at once; the first ones are kept."""
        line = f"after {time.monotonic() - self._begin_s:.1f} s: {what}"
        with self._lock:
            if len(self.found) >= KEPT:
                return
            self.found.append(line)
            print(f"TROUBLE {line}\n{self._last_events()}", file=sys.stderr, flush=True)

    @contextmanager
    def noted(self, who: str) -> Iterator[None]:
        """What goes wrong within is one of the troubles."""
        try:
            yield
        except Exception as error:  # whatever it is, the others go on
            self.add(f"{who}: {type(error).__name__}: {error}")

    def _last_events(self) -> str:
        if self._crowd_log is None or not self._crowd_log.exists():
            return ""
        events = self._crowd_log.read_text().splitlines()[-EVENTS_SHOWN:]
        now = f"now is {time.monotonic():.3f}"
        return "\n".join(["the last events (when, number, what, whom):", *events, now])
