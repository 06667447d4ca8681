# SPDX-License-Identifier: Apache-2.0
"""What goes on beside the chaos until it is over."""

from threading import Event, Thread
from typing import Self


class Background(Thread):
    """Runs as a thread for as long as its `with` lasts; `_done` is set when that ends."""

    def __init__(self, name: str | None = None):
        super().__init__(name=name, daemon=True)
        self._done = Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_) -> None:
        self._done.set()
        self.join()
