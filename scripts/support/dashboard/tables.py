# SPDX-License-Identifier: Apache-2.0
"""The table, which puts the answers of several queries side by side."""

from dataclasses import dataclass, field

from .panels import CALM, COUNT, REFERENCES, Panel, Query, Steps, override, thresholds


@dataclass(frozen=True)
class Column:
    title: str
    expression: str
    unit: str = COUNT
    steps: Steps = CALM
    width: int = 95
    decimals: int | None = None


@dataclass(frozen=True)
class Table(Panel):
    """A row for each set of labels, a column for each label and each expression."""

    columns: tuple[Column, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()  # label, title of its column
    hidden: tuple[str, ...] = ()  # labels without a column
    sorted_by: str = ""
    kind = "table"
    format = "table"
    instant = True
    queries: tuple[Query, ...] = field(init=False, default=())

    def __post_init__(self):
        queries = tuple(Query(each.expression) for each in self.columns)
        object.__setattr__(self, "queries", queries)

    def json(self) -> dict:
        return super().json() | {"transformations": self._transformations()}

    def _defaults(self) -> dict:
        return super()._defaults() | {"custom": {"align": "auto", "inspect": False}}

    def _options(self) -> dict:
        by = [{"displayName": self.sorted_by, "desc": True}]
        return {"cellHeight": "sm", "frameIndex": 0, "showHeader": True, "sortBy": by}

    def _transformations(self) -> list[dict]:
        titles = dict(self.labels) | self._values()
        arrange = {
            "excludeByName": {name: True for name in ("Time", *self.hidden)},
            "indexByName": {name: index for index, name in enumerate(titles)},
            "renameByName": titles,
        }
        return [{"id": "merge", "options": {}}, {"id": "organize", "options": arrange}]

    def _values(self) -> dict[str, str]:
        """What Grafana calls the column of each query, and what we do."""
        if len(self.columns) == 1:
            return {"Value": self.columns[0].title}
        titles = (each.title for each in self.columns)
        return {f"Value #{ref}": title for ref, title in zip(REFERENCES, titles)}

    def _overrides(self) -> list[dict]:
        return [override(each.title, _cell(each)) for each in self.columns]


def _cell(column: Column) -> dict:
    look = {"unit": column.unit, "custom.width": column.width}
    if column.decimals is not None:
        look["decimals"] = column.decimals
    if column.steps != CALM:
        look["thresholds"] = thresholds(column.steps)
        look["custom.cellOptions"] = {"type": "color-background", "mode": "basic"}
    return look
