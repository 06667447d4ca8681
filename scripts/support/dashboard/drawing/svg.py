# SPDX-License-Identifier: Apache-2.0
"""Shapes and text, as fragments of SVG. Coordinates are pixels, rounded: it is a picture."""

from dataclasses import dataclass
from html import escape
from typing import Iterable

TEXT, FAINT, LINE, PANEL, PAGE = "#24292e", "#6e7680", "#e4e7eb", "#ffffff", "#f4f5f5"
# What Grafana's names of colours look like on white.
NAMED = {
    "green": "#56a64b", "orange": "#ff9830", "red": "#e02f44", "blue": "#3274d9",
    "purple": "#a352cc", "text": "#24292e",
}  # fmt: skip
PALETTE = (
    "#56a64b", "#e0b400", "#3274d9", "#ff780a", "#e02f44", "#a352cc", "#1f8a98", "#8f3bb8",
    "#7c5a2b", "#ad0317", "#37872d", "#1250b0",
)  # fmt: skip
CHARACTER = 0.56  # mean width of one, as a share of the font's size

Points = Iterable[tuple[float, float]]


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    def inner(self, left: float = 0, top: float = 0, right: float = 0, bottom: float = 0) -> "Box":
        width, height = self.width - left - right, self.height - top - bottom
        return Box(self.x + left, self.y + top, width, height)


def rectangle(box: Box, fill: str, corner: float = 0, edge: str = "") -> str:
    round_off = f' rx="{corner:g}"' if corner else ""
    outline = f' stroke="{edge}"' if edge else ""
    size = f'width="{_n(box.width)}" height="{_n(box.height)}"'
    return f'<rect x="{_n(box.x)}" y="{_n(box.y)}" {size} fill="{fill}"{round_off}{outline}/>'


def rectangles(boxes: Iterable[Box], fill: str) -> str:
    """Many of one colour, in few characters."""
    shapes = (
        f"M{_n(box.x)},{_n(box.y)}h{_n(box.width)}v{_n(box.height)}h-{_n(box.width)}z" for box in boxes
    )
    return f'<path fill="{fill}" d="{"".join(shapes)}"/>'


def text(
    x: float, y: float, words: str, size: float = 11, fill: str = TEXT, anchor: str = "start",
    bold: bool = False,
) -> str:  # fmt: skip
    """`y` is the base line; `anchor`: start, middle or end."""
    more = "" if anchor == "start" else f' text-anchor="{anchor}"'
    more += ' font-weight="600"' if bold else ""
    place = f'x="{_n(x)}" y="{_n(y)}"'
    return f'<text {place} font-size="{size:g}" fill="{fill}"{more}>{escape(words)}</text>'


def line(points: Points, color: str, width: float = 1.3, dash: str = "") -> str:
    style = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<polyline points="{_points(points)}" fill="none" stroke="{color}" '
        f'stroke-width="{width:g}" stroke-linejoin="round"{style}/>'
    )


def area(points: Points, color: str, opacity: float) -> str:
    return f'<polygon points="{_points(points)}" fill="{color}" fill-opacity="{opacity:g}"/>'


def fitted(words: str, width: float, size: float) -> str:
    """As much of it as there is room for."""
    room = int(width / (size * CHARACTER))
    return words if len(words) <= room else words[: max(room - 1, 1)] + "…"


def _points(points: Points) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in points)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
