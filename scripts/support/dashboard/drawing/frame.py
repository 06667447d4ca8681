# SPDX-License-Identifier: Apache-2.0
"""What graphs and heat maps have in common: the field, its axes, and where a point stands."""

from dataclasses import dataclass

from ..live import Span
from .svg import FAINT, LINE, Box, line, text

AXIS_SIZE = 9.5


@dataclass(frozen=True)
class Field:
    """Time from left to right, values from the bottom up."""

    box: Box
    span: Span
    highest: float

    def x(self, moment_s: float) -> float:
        share = (moment_s - self.span.begin_s) / (self.span.end_s - self.span.begin_s)
        return self.box.x + share * self.box.width

    def y(self, value: float) -> float:
        return self.box.bottom - min(value / self.highest, 1.02) * self.box.height

    def level(self, value: float, label: str, color: str = LINE, dash: str = "") -> list[str]:
        """A line across, and what it stands for at its left end."""
        y = self.y(value)
        across = line([(self.box.x, y), (self.box.right, y)], color, 1, dash)
        if not label:
            return [across]
        return [across, text(self.box.x - 5, y + 3, label, AXIS_SIZE, FAINT, "end")]


def time_axis(box: Box, span: Span) -> list[str]:
    """Minutes before the end."""
    length_s = span.end_s - span.begin_s
    step_s = next(each for each in (30, 60, 120, 300, 600, 3600) if length_s / each <= 6)
    drawn = []
    for index in range(int(length_s // step_s) + 1):
        x = box.right - index * step_s / length_s * box.width
        label = f"−{index * step_s / 60:g} min" if index else "now"
        anchor = "middle" if index else "end"
        drawn.append(text(x, box.bottom + 13, label, AXIS_SIZE, FAINT, anchor))
    return drawn
