# SPDX-License-Identifier: Apache-2.0
"""All panels, where gridPos says. Rows that are closed are drawn open."""

from dataclasses import dataclass
from typing import Iterator

from ..live import Series, Span
from . import graph, heatmap, stat, table
from .svg import FAINT, LINE, PAGE, PANEL, TEXT, Box, fitted, rectangle, text

UNIT_WIDTH, UNIT_HEIGHT, GAP, HEAD = 50, 25, 4, 58
WIDTH = 24 * UNIT_WIDTH + 2 * GAP
FONTS = "Inter, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_KINDS = {"timeseries": graph.draw, "heatmap": heatmap.draw, "stat": stat.draw, "table": table.draw}


@dataclass(frozen=True)
class Answered:
    """A panel, and what each of its queries returned."""

    panel: dict
    answers: list[list[Series]]


def page(title: str, note: str, panels: list[Answered], span: Span) -> str:
    """The whole picture. `panels`: rows too, in the dashboard's order."""
    body: list[str] = [
        text(12, 26, title, 18, TEXT, bold=True),
        text(12, 45, note, 11, FAINT),
    ]
    bottom = HEAD
    for each, box in _opened(panels):
        body += _row(each.panel, box) if each.panel["type"] == "row" else _panel(each, span, box)
        bottom = max(bottom, box.bottom)
    size = f'width="{WIDTH}" height="{bottom + GAP:.0f}" viewBox="0 0 {WIDTH} {bottom + GAP:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONTS}">'
    ground = rectangle(Box(0, 0, WIDTH, bottom + GAP), PAGE)
    return "\n".join([head, ground, *body, "</svg>"]) + "\n"


def _opened(panels: list[Answered]) -> Iterator[tuple[Answered, Box]]:
    """With the place of each, when no row is closed."""
    shift, bottom = 0, 0
    for each in panels:
        grid = each.panel["gridPos"]
        if each.panel["type"] == "row":
            shift = bottom - grid["y"]
        y = grid["y"] + shift
        bottom = max(bottom, y + grid["h"])
        yield each, Box(
            GAP + grid["x"] * UNIT_WIDTH, HEAD + y * UNIT_HEIGHT,
            grid["w"] * UNIT_WIDTH, grid["h"] * UNIT_HEIGHT,
        )  # fmt: skip


def _row(panel: dict, box: Box) -> list[str]:
    return [text(box.x + 8, box.y + 17, panel["title"], 13, TEXT, bold=True)]


def _panel(answered: Answered, span: Span, box: Box) -> list[str]:
    panel = answered.panel
    frame = box.inner(left=GAP / 2, top=GAP / 2, right=GAP / 2, bottom=GAP / 2)
    title = fitted(panel["title"], frame.width - 16, 12)
    drawn = [
        rectangle(frame, PANEL, 2, LINE),
        text(frame.x + 8, frame.y + 16, title, 12, TEXT, bold=True),
    ]
    inside = frame.inner(top=22)
    return drawn + _KINDS[panel["type"]](panel, answered.answers, span, inside)
