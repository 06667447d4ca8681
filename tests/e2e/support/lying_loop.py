# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the hostile programs of tests/programs."""

import subprocess
import tempfile
from pathlib import Path

from .nodes import PROGRAMS

# So that what a program needs to run, which the kernel reads ahead, is far from what stands at the
# end of its file.
PADDING_BYTES = 4 << 20
COMPILER = ("gcc", "-O2", "-pthread", "-rdynamic")


def build(program: str, folder: Path, *flags: str) -> Path:
    """Compiles tests/programs/`program`.c into the folder."""
    made = folder / program
    subprocess.run([*COMPILER, *flags, PROGRAMS / f"{program}.c", "-o", made], check=True)
    with tempfile.NamedTemporaryFile() as padding:
        padding.truncate(PADDING_BYTES)
        subprocess.run(["objcopy", "--add-section", f".padding={padding.name}", made], check=True)
    return made


class LyingLoop:
    """One lying_loop, honest until told otherwise. Use with `with`: it is killed at the end."""

    def __init__(self, program: Path):
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> "LyingLoop":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    @property
    def pid(self) -> int:
        return self.process.pid

    def tell(self, *order: str | Path) -> None:
        self.process.stdin.write(" ".join(map(str, order)) + "\n")
        self.process.stdin.flush()
        if (said := self.process.stdout.readline().strip()) != "done":
            raise AssertionError(f"the lying program says {said!r}")

    def await_mapped(self) -> None:
        if (said := self.process.stdout.readline().strip()) != "mapped":
            raise AssertionError(f"the lying program says {said!r}")


def lies(program: Path) -> list[str]:
    return subprocess.run([program, "--lies"], capture_output=True, text=True).stdout.split()
