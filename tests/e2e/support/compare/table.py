# SPDX-License-Identifier: Apache-2.0
"""The comparison as a markdown table."""

from . import bounds
from .measure import Delay, Measured
from .verdict import misses, remark

HEADER = (
    f"Each figure: the application's own / uvtap's. {bounds.in_words()}\n"
    "“Within one sample”: the two windows end milliseconds apart, so that the interval in progress "
    "may be in one of them only, and Node does not record the one in progress when its monitor "
    "starts. So the application's figure one sample further is accepted.\n\n"
    "| Node | load | front door | utilization | p50 ms | p95 ms | p99 ms | max ms | verdict |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def row(measured: Measured) -> str:
    """One line; each figure is the application's own / uvtap's."""
    delays = (_milliseconds(measured.delay[name]) for name in ("p50", "p95", "p99", "max"))
    cells = [
        f"{measured.case.node} ({measured.version})",
        measured.case.load,
        measured.door,
        f"{measured.utilization.own:.4f} / {measured.utilization.uvtap:.4f}",
        *delays,
        verdict(measured),
    ]
    return f"| {' | '.join(cells)} |"


def verdict(measured: Measured) -> str:
    missed = misses(measured)
    said = f"**missed**: {', '.join(missed)}" if missed else "ok"
    return "; ".join(filter(None, [said, remark(measured)]))


def _milliseconds(delay: Delay) -> str:
    return f"{delay.own.value * 1e3:.2f} / {delay.uvtap * 1e3:.2f}"
