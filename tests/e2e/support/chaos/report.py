# SPDX-License-Identifier: Apache-2.0
"""What a run was like, as a table."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

BEGIN = "<!-- begin: written by scripts/soak --write -->"
END = "<!-- end -->"


@dataclass
class Report:
    """Rows by title. `troubles`: empty if all is well."""

    title: str
    troubles: list[str] = field(default_factory=list)
    _rows: list[tuple[str, str]] = field(default_factory=list)

    def add(self, what: str, figures: str) -> None:
        self._rows.append((what, figures))

    def add_counts(self, what: str, counts: dict[str, int] | Counter[str]) -> None:
        listed = [f"{kind} {count:,}" for kind, count in sorted(counts.items()) if count]
        self.add(what, ", ".join(listed) or "none")

    def markdown(self) -> str:
        lines = [self.title, "", "| | |", "|---|---|"]
        lines += [f"| {what} | {figures} |" for what, figures in self._rows]
        verdict = f"{len(self.troubles)} troubles" if self.troubles else "nothing went wrong"
        return "\n".join([*lines, f"| **verdict** | **{verdict}** |"])


def write_between_markers(page: Path, table: str) -> None:
    """In place of what stands between the two lines of the page that say where it belongs."""
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise AssertionError(f"{page} has no lines {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}")
