"""What a storage needs of a file system on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Listed:
    """A file or folder in a listing.

    `size` in bytes is 0 for a folder; `modified` is in ms since 1970, None if not known.
    """

    name: str
    size: int
    is_folder: bool
    modified: int | None = None


# An open file: its length in bytes, and what reads so many bytes from an offset; fewer at its end.
Ranges: TypeAlias = tuple[int, Callable[[int, int], bytes]]
# Files, each with its folder.
Pages: TypeAlias = list[tuple[str, Listed]]


class RemoteFiles(ABC):
    """Files on a server. A call costs a request, so few are made, and several at a time.

    A missing file raises FileNotFoundError, all else another OSError. `ordered` says that it can
    list from a name on, in the order of names.
    """

    ordered = False

    @abstractmethod
    def listing(self, path: str) -> list[Listed]:
        """The contents of a folder; nothing if there is no such folder."""

    @abstractmethod
    def content(self, path: str) -> bytes:
        """All bytes of a file, in one request."""

    @abstractmethod
    def below(self, path: str, start: str = "", end: str = "") -> Pages:
        """Files below a folder, with their folders relative to it.

        If it is ordered: paths from `start` until before `end`, in its order; "" is no limit.
        """

    @abstractmethod
    def length(self, path: str) -> int:
        """Length of a file in bytes."""

    @abstractmethod
    def range(self, path: str, start: int, end: int) -> bytes:
        """Bytes of a file from `start` until before `end`."""

    @contextmanager
    def open(self, path: str, size: int | None) -> Iterator[Ranges]:
        """A file to read by ranges, a request each; `size` is its length if that is known."""
        length = self.length(path) if size is None else size

        def read(offset: int, count: int) -> bytes:
            end = min(length, offset + count)
            return self.range(path, offset, end) if offset < end else b""

        yield length, read
