# SPDX-License-Identifier: Apache-2.0
"""Reads the Prometheus text format."""

import math
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

_SAMPLE = re.compile(r"^(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Sample:
    labels: dict[str, str]
    value: float


class Exposition:
    """One answer of /metrics."""

    def __init__(self, text: str):
        self.text = text

    @cached_property
    def _samples(self) -> dict[str, list[Sample]]:
        """By name. Read when first asked for, because most answers are only glanced at."""
        samples = defaultdict(list)
        for line in self.text.splitlines():
            match = _SAMPLE.match(line)
            if match and not line.startswith("#"):
                labels = dict(_LABEL.findall(match["labels"] or ""))
                samples[match["name"]].append(Sample(labels, float(match["value"])))
        return samples

    def lines(self, name: str, pid: int) -> list[str]:
        """The lines of these samples as they stand."""
        end = f'/{pid}"'
        return [line for line in self.text.splitlines() if line.startswith(name) and end in line]

    def names(self) -> set[str]:
        return set(self._samples)

    def find(self, name: str, pid: int | None = None, **labels: str) -> list[Sample]:
        """Samples with these labels; `pid` selects by the end of the label `process`."""
        wanted = labels.items()
        return [
            sample
            for sample in self._samples.get(name, [])
            if wanted <= sample.labels.items()
            and (pid is None or sample.labels.get("process", "").endswith(f"/{pid}"))
        ]

    def value(self, name: str, pid: int | None = None, **labels: str) -> float:
        """The one sample with these labels. KeyError if there is none or more than one."""
        found = self.find(name, pid, **labels)
        if len(found) != 1:
            raise KeyError(f"{len(found)} samples of {name} for pid {pid} with {labels}")
        return found[0].value

    def value_if_there(self, name: str, pid: int) -> float:
        """NaN if there is no such sample."""
        return self.value(name, pid) if self.find(name, pid) else math.nan

    def total(self, name: str, **labels: str) -> float:
        return sum(sample.value for sample in self.find(name, **labels))

    def observes(self, pid: int) -> bool:
        return bool(self.find("nodejs_eventloop_loops", pid))

    def observed_pids(self) -> set[int]:
        samples = self.find("nodejs_eventloop_loops")
        return {int(sample.labels["process"].rpartition("/")[2]) for sample in samples}

    def times(self, pid: int, prefix: str = "nodejs_eventloop") -> "LoopTimes":
        """Cumulative active and idle time; prefix nodejs_worker_eventloop for the Workers."""
        name = f"{prefix}_time_seconds_total"
        return LoopTimes(
            self.value(name, pid, nodejs_eventloop_state="active"),
            self.value(name, pid, nodejs_eventloop_state="idle"),
        )

    def wait_buckets(self, pid: int) -> dict[float, float]:
        """Upper bound in seconds → cumulative count."""
        samples = self.find("nodejs_eventloop_wait_seconds_bucket", pid)
        return {float(sample.labels["le"]): sample.value for sample in samples}

    def active_by_cause(self, pid: int) -> dict[str, float]:
        name = "nodejs_eventloop_active_seconds_total"
        return {
            cause: self.value(name, pid, cause=cause) for cause in ("cpu", "runqueue", "blocked")
        }


@dataclass(frozen=True)
class LoopTimes:
    """Seconds that a loop was active and idle."""

    active: float
    idle: float

    @property
    def observed(self) -> float:
        return self.active + self.idle

    def __sub__(self, earlier: "LoopTimes") -> "LoopTimes":
        return LoopTimes(self.active - earlier.active, self.idle - earlier.idle)

    @property
    def utilization(self) -> float:
        return self.active / self.observed
