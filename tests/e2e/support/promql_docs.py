# SPDX-License-Identifier: Apache-2.0
"""The PromQL and YAML that the documentation shows."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

import yaml

from .nodes import REPOSITORY

DOCS = REPOSITORY / "docs"
_BLOCK = re.compile(r"^ *```(?P<kind>\w+)\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Query:
    file: str
    text: str


def queries() -> Iterator[Query]:
    """Those of all ```promql blocks; empty lines part them."""
    for file in [REPOSITORY / "README.md", *sorted(DOCS.rglob("*.md"))]:
        for block in blocks(file, "promql"):
            for text in re.split(r"\n\s*\n", block.strip()):
                yield Query(str(file.relative_to(REPOSITORY)), text)


def blocks(file: Path, kind: str) -> list[str]:
    """The texts of the file's blocks of that kind."""
    found = _BLOCK.finditer(file.read_text())
    return [match["text"] for match in found if match["kind"] == kind]


def yaml_block(file: str, number: int = 0) -> Any:
    """What the YAML block with that number in docs/ says."""
    return yaml.safe_load(blocks(DOCS / file, "yaml")[number])


def headings(file: Path) -> set[str]:
    """The anchors of a file's headings, as they are made of plain words."""
    lines = file.read_text().splitlines()
    return {line.lstrip("# ").lower().replace(" ", "-") for line in lines if line.startswith("#")}


def article_queries() -> tuple[str, str]:
    """Of delay and of utilization, as docs/drop-in.md quotes them."""
    delay, utilization, *_ = [each.text for each in queries() if each.file == "docs/drop-in.md"]
    return delay, utilization
