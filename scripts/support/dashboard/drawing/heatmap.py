# SPDX-License-Identifier: Apache-2.0
"""Buckets over time, darker the larger their share."""

from ..live import Series, Span
from .frame import AXIS_SIZE, time_axis
from .svg import FAINT, Box, rectangle, rectangles, text
from .units import readable

# From white to the dark orange of Grafana's scheme "Oranges".
_SCHEME = ((255, 245, 235), (253, 208, 162), (253, 141, 60), (217, 72, 1), (127, 39, 4))
_SHADES = 40
_KEY_WIDTH = 220


def draw(panel: dict, answers: list[list[Series]], span: Span, box: Box) -> list[str]:
    options = panel["options"]
    limits, columns = _shares(answers[0])
    plot = box.inner(left=52, top=6, right=10, bottom=42)
    row_height = plot.height / len(limits)
    drawn = _axis(limits, options["yAxis"]["unit"], plot, row_height) + time_axis(plot, span)
    exponent = options["color"]["exponent"]
    cells: dict[str, list[Box]] = {}
    length_s = span.end_s - span.begin_s
    width = span.step_s / length_s * plot.width
    for moment, shares in columns.items():
        x = plot.x + (moment - span.begin_s) / length_s * plot.width - width
        for row, share in enumerate(shares):
            if share > options["filterValues"]["le"] and x >= plot.x - 0.5:
                cell = Box(x, plot.bottom - (row + 1) * row_height, width - 0.6, row_height - 0.6)
                cells.setdefault(_color(share, exponent), []).append(cell)
    drawn += [rectangles(boxes, color) for color, boxes in cells.items()]
    return drawn + _key(plot, box, exponent)


def _shares(found: list[Series]) -> tuple[list[float], dict[float, list[float]]]:
    """The upper limits of the buckets, and at each moment what is in each of them alone."""
    ordered = sorted(found, key=lambda series: float(series.labels["le"]))
    limits = [float(series.labels["le"]) for series in ordered]
    columns: dict[float, list[float]] = {}
    for series in ordered:
        for moment, upto in series.points:
            columns.setdefault(moment, []).append(upto)
    return limits, {
        moment: [upto - below for upto, below in zip(cumulative, [0.0, *cumulative])]
        for moment, cumulative in columns.items()
        if len(cumulative) == len(limits)
    }


def _axis(limits: list[float], unit: str, plot: Box, row_height: float) -> list[str]:
    """The upper limit of every bucket, or of every second."""
    drawn = []
    for row, limit in enumerate(limits):
        if row % 2 == 0 or row_height >= 11:
            label = "more" if limit == float("inf") else readable(limit, unit)
            y = plot.bottom - row * row_height - row_height / 2 + 3
            drawn.append(text(plot.x - 5, y, label, AXIS_SIZE, FAINT, "end"))
    return drawn


def _color(share: float, exponent: float) -> str:
    place = round(min(share, 1.0) ** exponent * _SHADES) / _SHADES * (len(_SCHEME) - 1)
    below = min(int(place), len(_SCHEME) - 2)
    mixed = (
        round(low + (high - low) * (place - below))
        for low, high in zip(_SCHEME[below], _SCHEME[below + 1])
    )
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _key(plot: Box, box: Box, exponent: float) -> list[str]:
    """Which colour is which share."""
    top, drawn = box.bottom - 20, []
    shares = (0.001, 0.01, 0.05, 0.2, 0.5, 1.0)
    width = _KEY_WIDTH / len(shares)
    for index, share in enumerate(shares):
        cell = Box(plot.x + index * width, top, width, 8)
        drawn.append(rectangle(cell, _color(share, exponent)))
        label = readable(share, "percentunit")
        drawn.append(text(cell.x + width / 2, top + 17, label, 9, FAINT, "middle"))
    return drawn
