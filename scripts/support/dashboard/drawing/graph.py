# SPDX-License-Identifier: Apache-2.0
"""Lines over time, with a legend of last and highest values."""

import math
from dataclasses import dataclass
from typing import Iterator

from ..live import Series, Span, legend
from .frame import Field, time_axis
from .svg import FAINT, NAMED, PALETTE, Box, area, fitted, line, rectangle, text
from .units import readable, ticks

LEGEND_LINE, LEGEND_SIZE = 13.0, 10.0
LEGEND_AT_MOST = 5


@dataclass(frozen=True)
class Line:
    name: str
    color: str
    dash: str
    points: list[tuple[float, float]]

    @property
    def last(self) -> float:
        return self.points[-1][1]

    @property
    def highest(self) -> float:
        return max(value for _, value in self.points)


def draw(panel: dict, answers: list[list[Series]], span: Span, box: Box) -> list[str]:
    lines = list(_lines(panel, answers))
    if not lines:
        middle = box.x + box.width / 2, box.y + box.height / 2
        return [text(*middle, "nothing to show", 11, FAINT, "middle")]
    shown = min(len(lines), LEGEND_AT_MOST)
    plot = box.inner(left=46, top=6, right=8, bottom=18 + (shown + 1) * LEGEND_LINE)
    defaults = panel["fieldConfig"]["defaults"]
    stacked = defaults["custom"]["stacking"]["mode"] == "normal"
    drawn_lines = _stack(lines) if stacked else lines
    field, marks = _field(plot, span, drawn_lines, defaults)
    drawn = [part for mark in marks for part in field.level(mark, readable(mark, defaults["unit"]))]
    drawn += _thresholds(field, defaults) + time_axis(plot, span)
    drawn += _filled(field, drawn_lines) if stacked else _plain(field, drawn_lines)
    return drawn + _legend(lines, defaults["unit"], box, plot.bottom + 18)


def _lines(panel: dict, answers: list[list[Series]]) -> Iterator[Line]:
    looks = _looks(panel)
    number = 0
    for target, found in zip(panel["targets"], answers):
        for series in found:
            points = [point for point in series.points if math.isfinite(point[1])]
            if not points:
                continue
            name = legend(target, series.labels)
            look = looks.get(target["legendFormat"], {})
            by_hand = look.get("color", {}).get("fixedColor")
            color = NAMED.get(by_hand, PALETTE[number % len(PALETTE)])
            yield Line(name, color, "6 4" if "custom.lineStyle" in look else "", points)
            number += 1


def _looks(panel: dict) -> dict[str, dict]:
    return {
        each["matcher"]["options"]: {one["id"]: one["value"] for one in each["properties"]}
        for each in panel["fieldConfig"]["overrides"]
    }


def _field(plot: Box, span: Span, lines: list[Line], defaults: dict) -> tuple[Field, list[float]]:
    highest = defaults.get("max") or max(each.highest for each in lines)
    marks = ticks(highest, defaults["unit"])
    if defaults.get("decimals") == 0:
        marks = [mark for mark in marks if mark == int(mark)]
    return Field(plot, span, max(marks[-1], highest)), marks


def _thresholds(field: Field, defaults: dict) -> list[str]:
    if defaults["custom"]["thresholdsStyle"]["mode"] == "off":
        return []
    drawn = []
    for step in defaults["thresholds"]["steps"][1:]:
        if step["value"] <= field.highest:
            drawn += field.level(step["value"], "", NAMED[step["color"]], "3 3")
    return drawn


def _plain(field: Field, lines: list[Line]) -> list[str]:
    return [
        line(run, each.color, dash=each.dash)
        for each in lines
        for run in _runs(field, each.points)
    ]


def _runs(field: Field, points: list[tuple[float, float]]) -> Iterator[list[tuple[float, float]]]:
    """Parted where there is no point: nothing was measured there."""
    run: list[tuple[float, float]] = []
    before = math.inf
    for moment, value in points:
        if moment - before > 1.5 * field.span.step_s:
            yield run
            run = []
        run.append((field.x(moment), field.y(value)))
        before = moment
    yield run


def _stack(lines: list[Line]) -> list[Line]:
    """Each with those before it below."""
    below: dict[float, float] = {}
    stacked = []
    for each in lines:
        points = [(moment, below.get(moment, 0) + value) for moment, value in each.points]
        below.update(points)
        stacked.append(Line(each.name, each.color, each.dash, points))
    return stacked


def _filled(field: Field, lines: list[Line]) -> list[str]:
    """The topmost first: each covers what it stands upon."""
    drawn = []
    for each in reversed(lines):
        points = [(field.x(moment), field.y(value)) for moment, value in each.points]
        floor = [(points[-1][0], field.box.bottom), (points[0][0], field.box.bottom)]
        drawn += [area(points + floor, "#ffffff", 1), area(points + floor, each.color, 0.6)]
        drawn.append(line(points, each.color, 1))
    return drawn


def _legend(lines: list[Line], unit: str, box: Box, top: float) -> list[str]:
    """The largest last value first; with a hint when there is no room for all."""
    right = box.right - 8
    heads = ((right - 62, "last"), (right, "max"))
    drawn = [text(x, top + 10, head, 9, FAINT, "end") for x, head in heads]
    ordered = sorted(lines, key=lambda each: -each.last)
    if len(ordered) > LEGEND_AT_MOST:
        hint = f"{len(ordered)} series, these are the highest"
        drawn.append(text(box.x + 12, top + 10, hint, 9, FAINT))
    for index, each in enumerate(ordered[:LEGEND_AT_MOST], start=1):
        y = top + index * LEGEND_LINE + 10
        drawn.append(rectangle(Box(box.x + 12, y - 4, 12, 3), each.color))
        room = box.width - 170
        drawn.append(text(box.x + 29, y, fitted(each.name, room, LEGEND_SIZE), LEGEND_SIZE))
        drawn.append(text(right - 62, y, readable(each.last, unit), LEGEND_SIZE, anchor="end"))
        drawn.append(text(right, y, readable(each.highest, unit), LEGEND_SIZE, anchor="end"))
    return drawn
