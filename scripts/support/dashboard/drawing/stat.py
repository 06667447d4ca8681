# SPDX-License-Identifier: Apache-2.0
"""One number, or a few with their names, on the colour of its step."""

from ..live import Series, Span
from .svg import NAMED, PANEL, Box, rectangle, text
from .units import readable


def draw(panel: dict, answers: list[list[Series]], span: Span, box: Box) -> list[str]:
    defaults = panel["fieldConfig"]["defaults"]
    numbers = [found[0].points[-1][1] if found else None for found in answers]
    inside = box.inner(left=6, top=2, right=6, bottom=6)
    drawn = []
    width = inside.width / len(numbers)
    for index, (target, number) in enumerate(zip(panel["targets"], numbers)):
        cell = Box(inside.x + index * width, inside.y, width - 2, inside.height)
        words = "–" if number is None else readable(number, defaults["unit"])
        drawn.append(rectangle(cell, color_of(number, defaults["thresholds"]["steps"]), 2))
        x, y = cell.x + cell.width / 2, cell.y + cell.height * 0.62
        drawn.append(text(x, y, words, 22, PANEL, "middle", True))
        if len(numbers) > 1:
            drawn.append(text(x, cell.bottom - 5, target["legendFormat"], 10, PANEL, "middle"))
    return drawn


def color_of(number: float | None, steps: list[dict]) -> str:
    reached = [step for step in steps if step["value"] is None or (number or 0) >= step["value"]]
    return NAMED[reached[-1]["color"]]
