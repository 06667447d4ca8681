# SPDX-License-Identifier: Apache-2.0
"""The results: a table to read, one for programs, and the generated part of docs/overhead.md."""

import datetime
from dataclasses import dataclass
from pathlib import Path

from . import machine, plot
from .comparison import CONFIDENCE, Figure, figures
from .plan import NODES, VARIANTS, WORKLOADS
from .run import Measured, Pace
from .targets import Judged, percent

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
_TSV_HEADER = "node\tworkload\tvariant\tpairs\tfigure\tunit\tunobserved\tobserved\textra\tlow\thigh"


@dataclass(frozen=True)
class Circumstances:
    command: str
    seed: int
    pace: Pace
    other_observers: list[str]


def write(documents: Path, measured: list[Measured], judged: list[Judged], about: Circumstances) -> None:
    """`documents` has overhead.md already, with the two markers."""
    page = documents / "overhead.md"
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    folder = documents / "overhead"
    folder.mkdir(exist_ok=True)
    (folder / "results.tsv").write_text(tsv(measured))
    (folder / "cpu.svg").write_text(plot.cpu(measured))
    page.write_text(f"{before}{BEGIN}\n\n{markdown(measured, judged, about)}\n\n{END}{after}")


def markdown(measured: list[Measured], judged: list[Judged], about: Circumstances) -> str:
    verdicts = "\n".join(each.line() for each in judged)
    return "\n\n".join([
        _head(about),
        "![CPU time beside unobserved](overhead/cpu.svg)",
        *(cpu_table(node, measured) for node in NODES if _of(node, measured)),
        "Throughput and latency of `auto` beside unobserved:",
        service_table(measured),
        f"The targets:\n\n```\n{verdicts}\n```",
    ])  # fmt: skip


def cpu_table(node: str, measured: list[Measured]) -> str:
    """CPU time per unit under each variant."""
    names = [each.name for each in VARIANTS]
    lines = [
        f"| Node.js {node}: CPU time | unobserved | {' | '.join(names)} |",
        f"|---|---|{'---|' * len(names)}",
    ]
    for each in _of(node, measured):
        cells = [_cell(each, name) for name in names]
        lines.append(f"| {each.cell.workload.title} | {_unobserved(each)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def service_table(measured: list[Measured], variant: str = "auto") -> str:
    lines = ["| workload | Node.js | throughput | p50 | p99 |", "|---|---|---|---|---|"]
    for each in measured:
        if variant not in each.pairs or each.cell.workload.is_idle:
            continue
        found = {one.name: percent(one.extra) for one in figures(each, variant)}
        cells = [found.get(name, "–") for name in ("throughput", "p50", "p99")]
        lines.append(f"| {each.cell.workload.title} | {each.cell.node} | {' | '.join(cells)} |")
    return "\n".join(lines)


def tsv(measured: list[Measured]) -> str:
    rows = [
        _tsv_row(each, variant, figure)
        for each in measured
        for variant in each.pairs
        for figure in figures(each, variant)
    ]
    return "\n".join([_TSV_HEADER, *rows]) + "\n"


def lines(measured: Measured) -> list[str]:
    """Of one cell, for the terminal: CPU time first, then the rest."""
    found = [f"{measured.cell.name}, unobserved {_unobserved(measured)}"]
    for name in measured.pairs:
        doors = ", ".join(sorted(measured.doors[name] - {""}))
        figures_ = (f"{each.name} {percent(each.extra)}" for each in figures(measured, name))
        found.append(f"  {name:<11}{'; '.join(figures_)}{f' through {doors}' if doors else ''}")
    return found


def _head(about: Circumstances) -> str:
    beside = ", ".join(about.other_observers)
    warning = f" **Not alone: {beside} observed the same machine.**" if beside else ""
    return (
        f"`{about.command}` wrote this on {datetime.date.today().isoformat()}: "
        f"{about.pace.rounds} rounds, slices of {about.pace.slice_s:g} s, seed {about.seed}; "
        f"{machine.description()}. Intervals hold the median with {CONFIDENCE:.0%}.{warning}"
    )


def _of(node: str, measured: list[Measured]) -> list[Measured]:
    order = [each.name for each in WORKLOADS]
    found = [each for each in measured if each.cell.node == node]
    return sorted(found, key=lambda each: order.index(each.cell.workload.name))


def _cell(measured: Measured, variant: str) -> str:
    """Bold where it can be told from unobserved."""
    if variant not in measured.pairs:
        return "–"
    extra = figures(measured, variant)[0].extra
    return percent(extra) if extra.has(0) else f"**{percent(extra)}**"


def _unobserved(measured: Measured) -> str:
    first = figures(measured, next(iter(measured.pairs)))[0]
    if measured.cell.workload.is_idle:
        return f"{100 * first.unobserved:.4f} % of a CPU"
    return f"{1e6 * first.unobserved:,.3g} µs/{measured.cell.workload.unit}".replace(",", "")


def _tsv_row(measured: Measured, variant: str, figure: Figure) -> str:
    cell, extra = measured.cell, figure.extra
    numbers = (figure.unobserved, figure.observed, extra.median, extra.low, extra.high)
    texts = (
        cell.node, cell.workload.name, variant, str(len(figure.values)), figure.name, figure.unit,
        *(f"{each:.6g}" for each in numbers),
    )  # fmt: skip
    return "\t".join(texts)
