# SPDX-License-Identifier: Apache-2.0
"""What metrics-server knows: the CPU use of each pod, over the time between two looks."""

from .pod import Pod, State


class CpuMeter:
    def __init__(self, every_s: float):
        self._every_s = every_s
        self._looked_s = float("-inf")
        self._before: dict[str, float] = {}
        self._usage_milli: dict[str, int] = {}

    def look(self, now_s: float, pods: list[Pod]) -> None:
        """Looks if it is time."""
        if now_s < self._looked_s + self._every_s:
            return
        running = [each for each in pods if each.state not in (State.PENDING, State.GONE)]
        used = {each.name: each.cgroup.cpu_seconds() for each in running}
        span_s = now_s - self._looked_s
        self._usage_milli = {
            name: round((seconds - self._before[name]) / span_s * 1000)
            for name, seconds in used.items()
            if name in self._before
        }
        self._before, self._looked_s = used, now_s

    def usage_milli(self, pod: Pod) -> int | None:
        """None: there is no sample of it yet."""
        return self._usage_milli.get(pod.name)

    @property
    def sampled_s(self) -> float:
        return self._looked_s
