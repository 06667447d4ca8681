# SPDX-License-Identifier: Apache-2.0
"""The picture of the documentation: the scene as the dashboard shows it."""

import sys
from pathlib import Path

from . import dashboard, scaling, workload
from .drawing import Answered, page
from .live import Prometheus, Span, all_panels, answers, variables
from .scene import NAMESPACE, Scene, obstacle

SCRAPE_S = 5
# In these rows one workload is meant to be chosen.
CHOSEN = "checkout"
CHOSEN_IN = (workload.TITLE, scaling.TITLE)
NOTE = (
    "Drawn by scripts/dashboard from the dashboard's own queries: not a screenshot of Grafana. "
    f"Namespace {NAMESPACE}; where one workload is to be chosen, {CHOSEN}."
)


def draw(minutes: float, output: Path) -> None:
    """Takes that long, and half a minute."""
    if reason := obstacle():
        sys.exit(f"scripts/dashboard: cannot draw here: {reason}")
    with Scene(SCRAPE_S) as scene:
        span = scene.play(minutes * 60)
        output.write_text(picture(span, Prometheus(scene.prometheus.address)))


def picture(span: Span, prometheus: Prometheus) -> str:
    document = dashboard.document()
    everything = variables(document, {"namespace": NAMESPACE})
    values, answered = everything, []
    for panel in all_panels(document):
        if panel["type"] == "row":
            one = panel["title"] in CHOSEN_IN
            values = everything | ({"workload": CHOSEN} if one else {})
            answered.append(Answered(panel, []))
        else:
            answered.append(Answered(panel, answers(panel, values, span, prometheus)))
    return page(document["title"], NOTE, answered, span)
