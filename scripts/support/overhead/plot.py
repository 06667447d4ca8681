# SPDX-License-Identifier: Apache-2.0
"""The picture: extra CPU time of each workload under each variant, a dot with its interval."""

from math import asinh

from dashboard.drawing.svg import FAINT, LINE, PAGE, TEXT, Box, line, rectangle, text

from .comparison import figures
from .plan import NODES, VARIANTS
from .run import Measured

WIDTH, LEFT, RIGHT, TOP, ROW, GAP = 900, 20, 30, 92, 13, 30
NAMES = 215  # width of the column with the workloads' names
COLORS = {  # Okabe and Ito's, which everybody can tell apart
    "auto": "#0072b2", "io_poll": "#56b4e9", "tracepoint": "#009e73", "epoll": "#cc79a7",
    "memory": "#777777", "exporter": "#e69f00", "peer": "#d55e00",
}  # fmt: skip
TICKS = (-0.05, -0.01, 0, 0.01, 0.05, 0.2, 1, 5, 20)
LOWEST, HIGHEST = -0.1, 40
# Below this share the axis is nearly linear, above it logarithmic.
LINEAR = 0.01


def cpu(measured: list[Measured]) -> str:
    parts, y = _legend(), float(TOP)
    for node in NODES:
        found = [each for each in measured if each.cell.node == node]
        if found:
            panel, y = _panel(node, found, y)
            parts += panel
    height = y + 10
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
        'font-family="Helvetica, Arial, DejaVu Sans, sans-serif">',
        rectangle(Box(0, 0, WIDTH, height), "white"),
        text(LEFT, 24, "CPU time beside unobserved", 15, bold=True),
        text(LEFT, 42, "Median of the pairs and its interval. Idle: share of a CPU.", 11, FAINT),
        *parts,
        "</svg>",
    ]) + "\n"  # fmt: skip


def _legend() -> list[str]:
    parts = []
    for number, each in enumerate(VARIANTS):
        x = LEFT + number * 125
        parts.append(_dot(x + 4, 60, COLORS[each.name]))
        parts.append(text(x + 13, 64, each.name, 11))
    return parts


def _panel(node: str, measured: list[Measured], top: float) -> tuple[list[str], float]:
    """The panel, and where the next one may begin."""
    rows = [(each, [one.name for one in VARIANTS if one.name in each.pairs]) for each in measured]
    field = Box(NAMES, top + 8, WIDTH - NAMES - RIGHT, sum(_height(names) for _, names in rows))
    parts, y = [text(LEFT, top, f"Node.js {node}", 12, bold=True)], field.y
    for number, (each, names) in enumerate(rows):
        if number % 2 == 0:
            parts.append(rectangle(Box(LEFT, y, WIDTH - LEFT - RIGHT, _height(names)), PAGE))
        y += _height(names)
    parts += _axis(field)
    y = field.y
    for each, names in rows:
        parts.append(text(LEFT + 6, y + _height(names) / 2 + 4, each.cell.workload.title, 11))
        for number, name in enumerate(names):
            parts += _mark(field, y + (number + 1) * ROW, each, name)
        y += _height(names)
    return parts, y + GAP + 14


def _height(names: list[str]) -> float:
    return (len(names) + 1) * ROW


def _axis(field: Box) -> list[str]:
    parts = []
    for tick in TICKS:
        x = _x(field, tick)
        color = TEXT if tick == 0 else LINE
        parts.append(line([(x, field.y), (x, field.bottom)], color, 1))
        parts.append(text(x, field.bottom + 14, f"{100 * tick:+g} %", 10, FAINT, "middle"))
    return parts


def _mark(field: Box, y: float, measured: Measured, name: str) -> list[str]:
    extra = figures(measured, name)[0].extra
    low, high, middle = (_x(field, each) for each in (extra.low, extra.high, extra.median))
    return [line([(low, y), (high, y)], COLORS[name], 2), _dot(middle, y, COLORS[name])]


def _x(field: Box, share: float) -> float:
    low, high = asinh(LOWEST / LINEAR), asinh(HIGHEST / LINEAR)
    within = min(max(asinh(share / LINEAR), low), high)
    return field.x + (within - low) / (high - low) * field.width


def _dot(x: float, y: float, color: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.6" fill="{color}"/>'
