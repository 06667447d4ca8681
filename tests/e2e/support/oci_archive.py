# SPDX-License-Identifier: Apache-2.0
"""Reads an image from an archive in the layout of the Open Container Initiative."""

import hashlib
import io
import json
import tarfile
from pathlib import Path


class OciArchive:
    """One image of one layer, as daemonset/build-image writes it."""

    def __init__(self, path: Path):
        self._archive = tarfile.open(path)
        (listed,) = json.loads(self._archive.extractfile("index.json").read())["manifests"]
        manifest = json.loads(self._blob(listed))
        self.digest: str = listed["digest"]
        self.config: dict = json.loads(self._blob(manifest["config"]))["config"]
        (layer,) = manifest["layers"]
        self._layer = tarfile.open(fileobj=io.BytesIO(self._blob(layer)))

    def members(self) -> list[tarfile.TarInfo]:
        """All files, folders and links, by name."""
        return sorted(self._layer.getmembers(), key=lambda each: each.name)

    def names(self) -> list[str]:
        return [each.name for each in self.members()]

    def unpacked_bytes(self) -> int:
        return sum(each.size for each in self.members())

    def unpack(self, folder: Path) -> None:
        self._layer.extractall(folder)

    def _blob(self, descriptor: dict) -> bytes:
        kind, _, name = descriptor["digest"].partition(":")
        content = self._archive.extractfile(f"blobs/{kind}/{name}").read()
        if hashlib.new(kind, content).hexdigest() != name:
            raise AssertionError(f"the content of {name} is another")
        return content
