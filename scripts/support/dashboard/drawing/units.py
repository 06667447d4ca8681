# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them, and the steps of an axis."""

import math

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_BINARY_STEPS, _DECIMAL_STEPS = tuple(2**power for power in range(11)), (1, 2, 2.5, 5, 10)
_SIZES = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def readable(value: float, unit: str) -> str:
    """`unit`: as Grafana calls it."""
    if math.isnan(value):
        return "–"
    if unit == "percentunit":
        return f"{_short(round(value * 100, 1 if value >= 0.01 else 3))} %"
    if unit == "s":
        return _scaled(value, _TIMES, "s")
    if unit == "bytes":
        return _scaled(value, _SIZES, "B")
    if unit == "ops":
        return f"{_short(value)}/s"
    return _short(value)


def ticks(highest: float, unit: str) -> list[float]:
    """From 0 to the first step that is not below `highest`, at most five."""
    if highest <= 0:
        return [0.0, 1.0]
    base = 1024.0 if unit == "bytes" else 10.0
    rough = highest / 4
    power = base ** math.floor(math.log(rough, base))
    choices = _BINARY_STEPS if unit == "bytes" else _DECIMAL_STEPS
    step = next(each * power for each in choices if each * power >= rough * 0.999)
    return [step * index for index in range(math.ceil(highest / step - 1e-9) + 1)]


def _scaled(value: float, scales: tuple, otherwise: str) -> str:
    for factor, name in scales:
        if abs(value) >= factor * 0.9995:
            return f"{_short(value / factor)} {name}"
    return f"{_short(value)} {otherwise}"


def _short(value: float) -> str:
    if abs(value) >= 10000:
        return f"{value / 1000:.3g}k"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else "0"
