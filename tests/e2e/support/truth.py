# SPDX-License-Identifier: Apache-2.0
"""The wait distribution, computed from busy stretches that are known."""

Stretch = tuple[float, float]


def clip(stretches: list[Stretch], begin: float, end: float) -> list[float]:
    """Lengths of the stretches' parts within the window."""
    parts = (min(stop, end) - max(start, begin) for start, stop in stretches)
    return [part for part in parts if part > 0]


def wait_percentile(lengths: list[float], window: float, percent: float) -> float:
    """How long an arrival at a random moment waits, at this percentile.

    The share of arrivals that wait longer than x is sum(max(0, length - x)) / window: piecewise
    linear in x with a corner at each length, falling as x grows.
    """
    wanted = (1 - percent / 100) * window
    beyond = 0.0  # sum of the lengths longer than x
    corners = sorted(lengths, reverse=True)
    for longer, (length, corner) in enumerate(zip(corners, corners[1:] + [0.0]), start=1):
        beyond += length
        if beyond - longer * corner >= wanted:
            return (beyond - wanted) / longer
    return 0.0
