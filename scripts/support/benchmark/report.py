# SPDX-License-Identifier: Apache-2.0
"""The report of a run, as Markdown."""

import math
import platform
from dataclasses import dataclass
from pathlib import Path

from . import plots
from .outcome import ABOVE, TARGET, Outcome, outcome
from .pace import REAL
from .run import Result

_HEADER = """\
| | P50 s | P95 s | P99 s | settled P95 s | requests | errors | answers/s | pods, most | \
first new pod after s | pod-seconds | with tail | time above target | run queue |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"""


@dataclass(frozen=True)
class Circumstances:
    command: str
    date: str
    seed: int


def write(folder: Path, results: list[Result], about: Circumstances) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for result in results:
        name = result.workload.name
        (folder / f"{name}.svg").write_text(plots.fared(result))
        (folder / f"{name}-signals.svg").write_text(plots.signals(result))
    (folder / "results.md").write_text(markdown(results, about))


def markdown(results: list[Result], about: Circumstances) -> str:
    sections = [_head(about), *map(_section, results)]
    return "\n\n".join(sections) + "\n"


def table(result: Result) -> str:
    rows = [
        _row(each.scenario.key, each.scenario.title, outcome(each, result.workload))
        for each in result.records
    ]
    return "\n".join([_HEADER, *rows])


def _head(about: Circumstances) -> str:
    return f"""\
# Results

What is measured, and how: [README](README.md). `{about.command}`
wrote this on {about.date}; seed
{about.seed}; {_machine()}.

- *settled P95*: of the last minute with all users.
- *first new pod*: from the first moment above target until one more pod is ready; {_pod_s():.0f} s of
  it pass after it was asked for.
- *pod-seconds*: from being asked for to the end of the process, while there is load; *with tail*: also
  after it.
- *time above target*: share of the time in which the pods that take requests were busier than
  {ABOVE:.2f} on average over ten seconds: the target of {TARGET} and the HPA's tolerance.
- *run queue*: share of their loops' active time in which they waited for a CPU."""


def _pod_s() -> float:
    return REAL.container + REAL.readiness


def _section(result: Result) -> str:
    workload = result.workload
    return f"""\
## {workload.title}

{table(result)}

All CPUs of the machine were {result.cpu_share:.0%} busy on average; load average before: \
{result.load_before:.1f}.

![how the scenarios fared]({workload.name}.svg)

![what the controllers read]({workload.name}-signals.svg)"""


def _row(key: str, title: str, one: Outcome) -> str:
    share = one.errors / one.requests if one.requests else math.nan
    cells = (
        f"**{key}** {title}", _s(one.p50_s), _s(one.p95_s), _s(one.p99_s), _s(one.settled_p95_s),
        str(one.requests), f"{one.errors} ({share:.1%})", f"{one.throughput:.1f}",
        str(one.peak_pods), _s(one.first_pod_s, 0), f"{one.pod_seconds:.0f}",
        f"{one.pod_seconds_all:.0f}", f"{one.above_target:.0%}", f"{one.starved:.1%}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _s(value: float, digits: int = 2) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    memory_kb = int(Path("/proc/meminfo").read_text().split()[1])
    return (
        f"{len(models)} CPUs ({models[0] if models else platform.machine()}), "
        f"{memory_kb / 1e6:.0f} GB, Linux {platform.release().partition('-')[0]}"
    )
