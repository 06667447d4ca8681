# SPDX-License-Identifier: Apache-2.0
"""What happens to the crowd, drawn from a seed: the same events in the same order each time."""

import random
from dataclasses import dataclass
from typing import Iterator

# How often, relative to each other. Starting Node.js costs some 50 ms of a CPU, so what is frequent
# is cheap.
WEIGHTS = {
    "short process": 70.0,
    "fork without exec": 30.0,
    "signal": 35.0,
    "stop": 8.0,
    "continue": 12.0,
    "title": 15.0,
    "busy for a moment": 8.0,
    "Worker begins": 5.0,
    "Worker ends": 4.0,
    "child process": 4.0,
    "Node.js starts": 1.0,
    "Node.js starts by a shell's exec": 0.5,
    "Node.js starts in a namespace": 0.4,
    "killed": 0.4,
    "ends by itself": 0.2,
    "exec of another program": 0.4,
    "forks itself": 0.4,
    "cluster": 0.4,
    "another user": 0.2,
    "binary renamed over": 0.2,
    "binary unlinked": 0.1,
    "binary chmod": 0.3,
}  # fmt: skip


@dataclass(frozen=True)
class Event:
    """`whom` and `how` choose among what there is then: numbers in [0, 1)."""

    number: int
    kind: str
    whom: float
    how: float


def events(seed: int) -> Iterator[Event]:
    """Without end."""
    draw = random.Random(seed)
    kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
    number = 0
    while True:
        (kind,) = draw.choices(kinds, weights)
        yield Event(number, kind, draw.random(), draw.random())
        number += 1
