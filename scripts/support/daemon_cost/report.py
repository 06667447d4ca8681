# SPDX-License-Identifier: Apache-2.0
"""The table of a run: on the screen, in docs/daemon-cost.md and beside it."""

import platform
from dataclasses import astuple, dataclass
from pathlib import Path

from . import plot
from .measure import NAMES, Figures
from .targets import Verdict

PAGE = "daemon-cost.md"
FOLDER = "overhead"
BEGIN = "<!-- what follows is written by scripts/daemon-cost -->"
END = "<!-- up to here -->"

HEADER = """\
| processes | CPU | CPU per loop and tick | CPU, scraped | CPU per scrape | resident, peak MB | \
scrape p50, p99 ms | exposition kB | observed after s: median, longest | \
first sample after s: median, longest |
|---|---|---|---|---|---|---|---|---|---|"""


@dataclass(frozen=True)
class Circumstances:
    command: str
    date: str
    load_before: float


def row(one: Figures) -> str:
    cells = (
        f"{one.processes}", f"{one.cpu_percent:.2f} %", f"{one.cpu_us_per_loop_and_tick:.0f} µs",
        f"{one.cpu_scraped_percent:.2f} %", f"{one.cpu_ms_per_scrape:.1f} ms",
        f"{one.resident_mb:.1f}, {one.peak_mb:.1f}",
        f"{one.scrape_p50_ms:.1f}, {one.scrape_p99_ms:.1f}", f"{one.exposition_kb:.0f}",
        f"{one.attach_median_s:.2f}, {one.attach_max_s:.2f}",
        f"{one.first_sample_median_s:.2f}, {one.first_sample_max_s:.2f}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def tsv(rows: list[Figures]) -> str:
    lines = ["\t".join(NAMES)]
    lines += ["\t".join(f"{value:.6g}" for value in astuple(one)) for one in rows]
    return "\n".join(lines) + "\n"


def markdown(rows: list[Figures], verdicts: list[Verdict], about: Circumstances) -> str:
    table = "\n".join([HEADER, *map(row, rows)])
    judged = "\n".join(f"    {verdict}" for verdict in verdicts)
    return f"""\
`{about.command}` wrote this on {about.date}: {_machine()}; load average before it began: \
{about.load_before:.1f}.

{table}

{judged}

![the figures over the number of processes]({FOLDER}/daemon.svg)"""


def write(docs: Path, rows: list[Figures], verdicts: list[Verdict], about: Circumstances) -> None:
    (docs / FOLDER).mkdir(exist_ok=True)
    (docs / FOLDER / "daemon.tsv").write_text(tsv(rows))
    (docs / FOLDER / "daemon.svg").write_text(plot.svg(rows))
    page = docs / PAGE
    before, _, rest = page.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n\n{markdown(rows, verdicts, about)}\n\n{END}{after}")


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [each.partition(": ")[2] for each in lines if each.startswith("model name")]
    release = platform.release().partition("-")[0]
    return f"{len(models)} CPUs ({models[0] if models else platform.machine()}), Linux {release}"
