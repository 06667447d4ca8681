# SPDX-License-Identifier: Apache-2.0
"""Draws panels of a Grafana dashboard as SVG, from what Prometheus answered.

It is no Grafana: it knows the panels that our dashboard has, and of their options those that we use.

    svg.py       shapes and text
    units.py     numbers as people read them, and the steps of an axis
    graph.py …   one kind of panel each
    page.py      all of them, where gridPos says
"""

from .page import Answered, page

__all__ = ["Answered", "page"]
