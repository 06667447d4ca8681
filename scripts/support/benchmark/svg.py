# SPDX-License-Identifier: Apache-2.0
"""Line charts, one above the other over the same time, as SVG."""

import math
from dataclasses import dataclass, field
from html import escape

WIDTH, PANEL, GAP = 860, 130, 46
LEFT, RIGHT, TOP, BOTTOM = 64, 70, 92, 44
LEGEND_COLUMNS = 3
_FONT = 'font-family="Helvetica, Arial, DejaVu Sans, sans-serif"'

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    points: Points
    color: str
    dashes: str = ""
    steps: bool = False  # a value holds until the next one


@dataclass
class Panel:
    """`marks`: values with a line across, and what stands at it."""

    title: str
    top: float
    lines: list[Line]
    bottom: float = 0.0
    logarithmic: bool = False
    ticks: tuple[float, ...] = ()
    marks: dict[float, str] = field(default_factory=dict)

    def share(self, value: float) -> float:
        """How far up in the panel: 0 to 1."""
        value = min(max(value, self.bottom), self.top)
        if self.logarithmic:
            return math.log(value / self.bottom) / math.log(self.top / self.bottom)
        return (value - self.bottom) / (self.top - self.bottom)


@dataclass
class Chart:
    """`legend`: what each color (and dash pattern) stands for."""

    title: str
    end_s: float
    panels: list[Panel]
    legend: list[tuple[str, str, str]]  # name, color, dashes

    def svg(self) -> str:
        height = TOP + len(self.panels) * (PANEL + GAP) - GAP + BOTTOM
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {_FONT} '
            'font-size="12" fill="#333">',
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
            _text(LEFT, 20, self.title, 'font-size="15" font-weight="bold"'),
            *self._legend(),
        ]
        for number, panel in enumerate(self.panels):
            parts += self._panel(panel, TOP + number * (PANEL + GAP))
        parts.append(_text(WIDTH - RIGHT, height - 8, "seconds", 'text-anchor="end"'))
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _x(self, at_s: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * at_s / self.end_s

    def _legend(self) -> list[str]:
        parts = []
        for number, (name, color, dashes) in enumerate(self.legend):
            row, column = divmod(number, LEGEND_COLUMNS)
            x, y = LEFT + column * (WIDTH - LEFT) / LEGEND_COLUMNS, 40 + 18 * row
            parts.append(_stroke(f"M{x:.1f} {y - 4}h18", color, dashes, 3))
            parts.append(_text(x + 23, y, name))
        return parts

    def _panel(self, panel: Panel, top: float) -> list[str]:
        def y(value: float) -> float:
            return top + PANEL * (1 - panel.share(value))

        parts = [_text(LEFT, top - 7, panel.title, 'font-weight="bold"')]
        for tick in panel.ticks:
            parts.append(_stroke(f"M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}", "#e4e4e4"))
            parts.append(_text(LEFT - 6, y(tick) + 4, f"{tick:g}", 'text-anchor="end"'))
        parts += self._time_axis(top)
        for value, name in panel.marks.items():
            parts.append(_stroke(f"M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}", "#000", "2 3"))
            parts.append(_text(WIDTH - RIGHT + 6, y(value) + 4, name))
        for line in panel.lines:
            parts.append(_stroke(self._path(line, y), line.color, line.dashes, 1.8))
        return parts

    def _time_axis(self, top: float) -> list[str]:
        parts = [_stroke(f"M{LEFT} {top}v{PANEL}H{WIDTH - RIGHT}", "#999")]
        for at_s in range(0, int(self.end_s) + 1, 60 if self.end_s > 200 else 30):
            parts.append(_stroke(f"M{self._x(at_s):.1f} {top + PANEL}v4", "#999"))
            where = self._x(at_s), top + PANEL + 16
            parts.append(_text(*where, str(at_s), 'text-anchor="middle"'))
        return parts

    def _path(self, line: Line, y) -> str:
        path, last = "", None
        for at_s, value in line.points:
            if math.isnan(value):
                last = None
                continue
            x, height = f"{self._x(at_s):.1f}", f"{y(value):.1f}"
            if last is None:
                path += f"M{x} {height}"
            elif line.steps:
                path += f"H{x}" if height == last else f"H{x}V{height}"
            else:
                path += f"L{x} {height}"
            last = height
        return path


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(text)}</text>'


def _stroke(path: str, color: str, dashes: str = "", width: float = 1) -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{width}" '
        f'stroke-linejoin="round"{dashed}/>'
    )
