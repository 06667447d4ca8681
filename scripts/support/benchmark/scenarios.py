# SPDX-License-Identifier: Apache-2.0
"""Which file scales, and who measures."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from support.nodes import REPOSITORY
from support.scaler import Scaling, load

KEDA = REPOSITORY / "daemonset" / "keda"
OWN = Path(__file__).parent / "scalers"
CONTAINER = "app"


@dataclass(frozen=True)
class Scenario:
    """`in_process`: the pods report their loops themselves, through prom-client."""

    key: str
    title: str
    file: Path
    in_process: bool = False

    @property
    def namespace(self) -> str:
        """Of its own, so that all lanes can be on one machine."""
        return f"lane-{self.key.lower()}"

    def scaling(self) -> Scaling:
        """The file, with its queries pointed at this lane."""
        scaling = load(self.file)
        triggers = (
            replace(each, query=self._at_home(each.query)) for each in scaling.triggers
        )
        return replace(scaling, triggers=tuple(triggers))

    def _at_home(self, query: str) -> str:
        return re.sub(r'\b(namespace|job)="[^"]*"', rf'\1="{self.namespace}"', query)


ALL = {
    each.key: each
    for each in (
        Scenario("A", "HPA on CPU", OWN / "hpa-cpu.yaml"),
        Scenario("P", "article, as published", OWN / "article.yaml", in_process=True),
        Scenario("B", "article, averages put right", KEDA / "article.yaml", in_process=True),
        Scenario("C", "the same from uvtap", KEDA / "article.yaml"),
        Scenario("D", "uvtap, recommended", KEDA / "recommended.yaml"),
        Scenario("E", "uvtap, predictive", KEDA / "predictive.yaml"),
    )
}
