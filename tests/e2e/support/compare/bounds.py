# SPDX-License-Identifier: Apache-2.0
"""How far uvtap's figures may be from the application's own."""

from dataclasses import dataclass

UTILIZATION = 0.005


@dataclass(frozen=True)
class Bound:
    """Within the larger of so many seconds and this share of the true value."""

    seconds: float
    share: float = 0.0

    def allows(self, measured: float, true: float) -> bool:
        return abs(measured - true) <= max(self.seconds, self.share * true)

    def __str__(self) -> str:
        share = f" or {self.share:.0%}" if self.share else ""
        return f"{self.seconds * 1e3:g} ms{share}"


DELAY = {
    "p50": Bound(0.0005),
    "p95": Bound(0.002, 0.03),
    "p99": Bound(0.002, 0.03),
    "max": Bound(0.003, 0.02),
}

# The memory door looks at a loop every 2 ms: what begins and ends between two looks it places
# somewhere in between.
SAMPLED_DELAY = {
    "p50": Bound(0.002, 0.05),
    "p95": Bound(0.005, 0.05),
    "p99": Bound(0.005, 0.05),
    "max": Bound(0.005, 0.05),
}

# The stretches are known exactly; what remains is the width of the histogram's buckets.
WAIT_SCRIPTED = Bound(0.001, 0.05)
WAIT_CLIENTS = Bound(0.003, 0.10)


def delay_bounds(door: str) -> dict[str, Bound]:
    return SAMPLED_DELAY if door == "memory" else DELAY


def in_words() -> str:
    """The bounds, as the table's readers need them."""

    def listed(delay: dict[str, Bound]) -> str:
        return ", ".join(f"{name} {bound}" for name, bound in delay.items())

    return (
        f"Bounds: utilization {UTILIZATION}; delay {listed(DELAY)}. "
        f"Through the memory door delay is sampled: {listed(SAMPLED_DELAY)}."
    )


# Loads for which Node's own delay figure cannot be reproduced, and why.
NOT_REPRODUCIBLE = {
    "timers": "the work is done by JavaScript timers: when in a stretch the monitor's timer fired "
    "cannot be seen",
}
