"""Footers of heads that one walk has read, for the next one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from keyfold.format.footer import Footer
from keyfold.format.names import HEAD_KINDS, FileName, Version
from keyfold.state.store_files import StoreFiles

# A file as it was listed: path, size and time. Without ids, a later attempt replaces a file by
# another of its name.
_File: TypeAlias = tuple[str, int | None, int | None]


class Heads:
    """Footers of heads by file, so that a walk reads those of new files alone."""

    def __init__(self) -> None:
        self._known: dict[_File, Footer] = {}

    def lend(self, files: StoreFiles, version: Version) -> None:
        """Gives a store what is known of the head of a version."""
        for kind in HEAD_KINDS:
            name = FileName(*version, kind)
            known = self._known.get(_file(files, name))
            if known is not None:
                files.lend(name, known)

    def add(self, files: StoreFiles, head: Footer) -> None:
        """Keeps the footer of a file of a store."""
        self._known[_file(files, head.name)] = head

    def keep(self, heads: Iterable[tuple[StoreFiles, Footer]]) -> None:
        """Keeps these, and no others."""
        self._known = {_file(files, head.name): head for files, head in heads}


def _file(files: StoreFiles, name: FileName) -> _File:
    return f"{files.folder}/{name}", files.sizes.get(name), files.times.get(name)
