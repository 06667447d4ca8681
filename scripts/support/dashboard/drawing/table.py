# SPDX-License-Identifier: Apache-2.0
"""A row for each set of labels; cells in the colour of their step."""

from dataclasses import dataclass

from ..live import Series, Span
from .stat import color_of
from .svg import FAINT, LINE, Box, fitted, line, rectangle, text
from .units import readable

ROW, SIZE = 19.0, 11.0


@dataclass(frozen=True)
class Column:
    title: str
    key: str  # a label, or the letter of a query
    is_value: bool
    look: dict


def draw(panel: dict, answers: list[list[Series]], span: Span, box: Box) -> list[str]:
    columns = _columns(panel)
    rows = _rows(panel, answers)
    # Columns that are empty throughout take room and say nothing.
    columns = [each for each in columns if any(row.get(each.key, "") != "" for row in rows)]
    inside = box.inner(left=10, top=4, right=10, bottom=4)
    wide = [0.7 if each.is_value else 1.3 for each in columns]
    unit = inside.width / sum(wide)
    drawn, x = [], inside.x
    room = int((inside.height - ROW) // ROW)
    for column, share in zip(columns, wide):
        title = fitted(column.title, share * unit, SIZE)
        drawn.append(text(x + 4, inside.y + 13, title, 10.5, FAINT, bold=True))
        for index, row in enumerate(rows[:room]):
            cell = Box(x, inside.y + ROW * (index + 1), share * unit, ROW)
            drawn += _cell(column, row.get(column.key, ""), cell)
        x += share * unit
    return drawn


def _cell(column: Column, content: float | str, cell: Box) -> list[str]:
    ruled = line([(cell.x, cell.bottom), (cell.right, cell.bottom)], LINE, 1)
    if not column.is_value or content == "":
        return [ruled, text(cell.x + 4, cell.y + 14, fitted(str(content), cell.width, SIZE), SIZE)]
    words = readable(content, column.look["unit"])
    if "thresholds" not in column.look:
        return [ruled, text(cell.x + 4, cell.y + 14, words, SIZE)]
    color = color_of(content, column.look["thresholds"]["steps"])
    filled = rectangle(cell.inner(left=1, top=1, right=1, bottom=1), color)
    return [filled, text(cell.x + 4, cell.y + 14, words, SIZE, "#ffffff", bold=True)]


def _columns(panel: dict) -> list[Column]:
    looks = {
        each["matcher"]["options"]: {one["id"]: one["value"] for one in each["properties"]}
        for each in panel["fieldConfig"]["overrides"]
    }
    titles = panel["transformations"][1]["options"]["renameByName"]
    return [
        Column(title, name.removeprefix("Value #"), name.startswith("Value"), looks.get(title, {}))
        for name, title in titles.items()
    ]


def _rows(panel: dict, answers: list[list[Series]]) -> list[dict]:
    """Merged by labels, in the order that the panel asks for."""
    single = len(panel["targets"]) == 1
    rows: dict[tuple, dict] = {}
    for target, found in zip(panel["targets"], answers):
        key = "Value" if single else target["refId"]
        for series in found:
            row = rows.setdefault(tuple(sorted(series.labels.items())), dict(series.labels))
            row[key] = series.points[-1][1]
    by = panel["options"]["sortBy"][0]["displayName"]
    key = next(each.key for each in _columns(panel) if each.title == by)
    return sorted(rows.values(), key=lambda row: -row.get(key, 0))
