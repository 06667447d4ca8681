# SPDX-License-Identifier: Apache-2.0
"""A private copy of node that is replaced while it runs."""

import os
import shutil
from pathlib import Path


class PrivateBinary:
    """Two copies take turns under one name. Each is copied once and linked from then on: a copy is
    120 MB."""

    def __init__(self, folder: Path, original: Path):
        self.path = folder / "node"
        self._copies = [folder / "first", folder / "second"]
        for copy in self._copies:
            shutil.copy(original, copy)
        os.link(self._copies[0], self.path)

    def rename_over(self) -> None:
        """Another file has the name from now on; the old one runs on."""
        self._copies.reverse()
        new = self.path.with_name("new")
        os.link(self._copies[0], new)
        new.rename(self.path)

    def unlink(self) -> None:
        """The file that runs loses all its names, and there is a new one."""
        copy = self._copies[0]
        fresh = copy.with_name("fresh")
        shutil.copy(self._copies[1], fresh)
        self.path.unlink()
        copy.unlink()
        fresh.rename(copy)
        os.link(copy, self.path)

    def chmod(self, how: float) -> None:
        self.path.chmod(0o755 if how < 0.5 else 0o555)
