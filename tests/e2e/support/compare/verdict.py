# SPDX-License-Identifier: Apache-2.0
"""Is what was measured within the bounds?"""

from . import bounds
from .measure import Measured


def misses(measured: Measured) -> list[str]:
    """The figures that are out of bounds, in words; empty if there are none."""
    return _utilization_misses(measured) + _delay_misses(measured)


def remark(measured: Measured) -> str:
    """What a reader has to know of this row."""
    remarks = []
    if reason := bounds.NOT_REPRODUCIBLE.get(measured.case.load):
        remarks.append(f"delay shown, not compared: {reason}")
    elif measured.door == "memory":
        remarks.append("delay is sampled")
    if near := [name for name in measured.delay if _needs_a_sample(measured, name)]:
        remarks.append(f"{', '.join(near)}: within one sample")
    if measured.worker is not None:
        remarks.append(f"Worker: {measured.worker.own:.4f} / {measured.worker.uvtap:.4f}")
    return "; ".join(remarks)


def _utilization_misses(measured: Measured) -> list[str]:
    shares = {
        "utilization": measured.utilization,
        "utilization gauge": measured.gauge,
        "Worker utilization": measured.worker,
    }
    return [
        f"{name} {share.uvtap:.4f}, not {share.own:.4f}"
        for name, share in shares.items()
        if share is not None and not abs(share.uvtap - share.own) <= bounds.UTILIZATION
    ]


def _delay_misses(measured: Measured) -> list[str]:
    if measured.case.load in bounds.NOT_REPRODUCIBLE:
        return []
    return [
        f"{name} {delay.uvtap * 1e3:.2f} ms, not {delay.own.value * 1e3:.2f} ms"
        for name, delay in measured.delay.items()
        if not _within(measured, name, delay.own.nearest(delay.uvtap))
    ]


def _needs_a_sample(measured: Measured, name: str) -> bool:
    """Is this figure within its bound only if the window held one sample more or less?"""
    delay = measured.delay[name]
    nearest = delay.own.nearest(delay.uvtap)
    return _within(measured, name, nearest) and not _within(measured, name, delay.own.value)


def _within(measured: Measured, name: str, true: float) -> bool:
    return bounds.delay_bounds(measured.door)[name].allows(measured.delay[name].uvtap, true)
