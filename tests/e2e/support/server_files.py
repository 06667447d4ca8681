# SPDX-License-Identifier: Apache-2.0
"""What the HTTP side of the daemon has open. (Probes come and go with other programs of a machine.)"""

import os
import re
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Callable

from .uvtap import Uvtap

CLOSED_WITHIN_S = 14.0  # a connection lives 10 s


def _server_files(server: Uvtap) -> Counter[str]:
    links = Path(f"/proc/{server.pid}/fd").iterdir()
    kinds = []
    for link in links:
        with suppress(FileNotFoundError):  # closed meanwhile
            kinds.append(re.sub(r"^socket:.*", "socket", os.readlink(link)))
    return Counter(each for each in kinds if re.fullmatch(r"socket|.*\[event(poll|fd)\]", each))


def files_at_rest(server: Uvtap) -> Counter[str]:
    """Once the connections of those who have their answer are closed: only the socket that listens."""
    return _await(server, lambda now: now["socket"] == 1, "one socket")


def await_files(server: Uvtap, files: Counter[str]) -> None:
    """Nothing is left over once its clients have gone."""
    _await(server, lambda now: now == files, str(files))


def _await(server: Uvtap, holds: Callable[[Counter[str]], bool], what: str) -> Counter[str]:
    deadline = time.monotonic() + CLOSED_WITHIN_S
    while not holds(now := _server_files(server)):
        if time.monotonic() > deadline:
            raise AssertionError(f"{now} is open, not {what}")
        server.pause(0.05)
    return now
