# SPDX-License-Identifier: Apache-2.0
"""How much of everything."""

from dataclasses import dataclass

DOORS = ("io_poll", "tracepoint", "epoll", "memory", "auto")
TINY_LOOPS = 16


@dataclass(frozen=True)
class Settings:
    seconds: float
    seed: int
    rate: float  # events a second; 0: nothing but uvtaps that begin and end
    window_s: int = 8  # of the accounts
    victim_lives_s: tuple[float, float] = (0.5, 6.0)
    victims_per_door: int = 1
    prometheus: bool = False
    step_machine_clock: bool = False


def short(seed: int = 1) -> Settings:
    """What the tests do each time."""
    return Settings(seconds=26, seed=seed, rate=200)


def storm(seconds: float, seed: int) -> Settings:
    """Nothing but uvtaps that begin and end beside each other."""
    return Settings(
        seconds=seconds, seed=seed, rate=0, victim_lives_s=(0.0, 2.0), victims_per_door=2
    )
