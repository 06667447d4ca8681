# SPDX-License-Identifier: Apache-2.0
"""The figures over the number of processes, as SVG."""

from dashboard.drawing.svg import FAINT, LINE, Box, line, rectangle, text

from .measure import Figures
from .targets import AT, TARGETS

COLUMNS, WIDTH, HEIGHT, GAP = 3, 280, 190, 16
INNER = {"left": 40, "top": 38, "right": 14, "bottom": 24}
PANELS = (
    ("cpu_scraped_percent", "CPU, scraped every 5 s: % of one"),
    ("cpu_us_per_loop_and_tick", "CPU per loop and tick: µs"),
    ("resident_mb", "resident memory: MB"),
    ("scrape_p99_ms", "scrape, p99: ms"),
    ("exposition_kb", "exposition: kB"),
    ("first_sample_max_s", "first sample, longest: s from exec"),
)
LIMITS = {target.name: target.limit for target in TARGETS}
BLUE, RED = "#0072b2", "#d55e00"


def svg(rows: list[Figures]) -> str:
    count = -(-len(PANELS) // COLUMNS)
    width = COLUMNS * (WIDTH + GAP) + GAP
    height = count * (HEIGHT + GAP) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="Helvetica, Arial, DejaVu Sans, sans-serif">',
        rectangle(Box(0, 0, width, height), "#ffffff"),
    ]
    for number, (name, title) in enumerate(PANELS):
        row, column = divmod(number, COLUMNS)
        box = Box(GAP + column * (WIDTH + GAP), GAP + row * (HEIGHT + GAP), WIDTH, HEIGHT)
        parts += _panel(box, title, name, rows)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(box: Box, title: str, name: str, rows: list[Figures]) -> list[str]:
    plot = box.inner(**INNER)
    points = [(row.processes, getattr(row, name)) for row in rows]
    limit = LIMITS.get(name)
    most = max(*(value for _, value in points), limit or 0) * 1.15
    right = max(AT, *(at for at, _ in points))

    def place(at: float, value: float) -> tuple[float, float]:
        return plot.x + plot.width * at / right, plot.bottom - plot.height * value / most

    parts = [
        rectangle(box, "#ffffff", 4, LINE),
        text(box.x + 10, box.y + 20, title, 12, bold=True),
        line([(plot.x, plot.y), (plot.x, plot.bottom), (plot.right, plot.bottom)], FAINT, 1),
        text(plot.right, plot.bottom + 16, f"{right} processes", 10, FAINT, "end"),
    ]
    if limit is not None:
        parts.append(line([place(0, limit), place(right, limit)], RED, 1.2, "4 3"))
        parts.append(text(plot.x + 4, place(0, limit)[1] - 4, f"target {limit:g}", 10, RED))
    parts.append(line([place(*point) for point in points], BLUE, 1.8))
    for at, value in points:
        x, y = place(at, value)
        parts.append(rectangle(Box(x - 2.5, y - 2.5, 5, 5), BLUE))
        parts.append(text(x, y - 7, f"{value:.3g}", 10, anchor="middle"))
        if at < right * 0.7:  # beyond stands the last one
            parts.append(text(x, plot.bottom + 16, str(at), 10, FAINT, "middle"))
    return parts
