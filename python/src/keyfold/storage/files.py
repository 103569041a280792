"""What a storage needs of a file system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeAlias


@dataclass(frozen=True)
class Listed:
    """A file or folder in a listing.

    `size` in bytes is 0 for a folder; `modified` is in ms since 1970, None if not known.
    """

    name: str
    size: int
    is_folder: bool
    modified: int | None = None


class Ranges(Protocol):
    """An open file."""

    def size(self) -> int:
        """Length in bytes."""

    def read_at(self, length: int, offset: int) -> bytes:
        """The `length` bytes from `offset`; fewer at the end of the file."""


Pages: TypeAlias = list[tuple[str, Listed]]
Run: TypeAlias = Callable[
    [Callable[[tuple[str, str]], Pages], Sequence[tuple[str, str]]], list[Pages]
]


class Files(Protocol):
    """Files by path. A missing file raises FileNotFoundError, all else another OSError."""

    remote: bool
    """Whether a call costs a request, so that few are made, and several at a time."""

    def listing(self, path: str) -> list[Listed]:
        """The contents of a folder; nothing if there is no such folder."""

    def below(self, path: str, splits: Sequence[str], run: Run) -> Pages:
        """All files below a folder, with their folders relative to it. Called if remote.

        Args:
            path: the folder.
            splits: names between which it may be listed side by side, ascending.
            run: calls a function for each item, side by side.
        """

    def content(self, path: str) -> bytes:
        """All bytes of a file, in one request."""

    def open(self, path: str, size: int | None) -> AbstractContextManager[Ranges]:
        """A file to read by ranges, a request each; `size` is its length if that is known."""


class RemoteFiles(ABC):
    """Files on a server, whose ranges can be asked for."""

    remote = True

    @abstractmethod
    def length(self, path: str) -> int:
        """Length of a file in bytes."""

    @abstractmethod
    def range(self, path: str, start: int, end: int) -> bytes:
        """Bytes of a file from `start` until before `end`."""

    @contextmanager
    def open(self, path: str, size: int | None) -> Iterator[Ranges]:
        """As `Files`."""
        yield _Sized(self, path, self.length(path) if size is None else size)


class _Sized:
    """A file of known length."""

    def __init__(self, files: RemoteFiles, path: str, size: int) -> None:
        self._files = files
        self._path = path
        self._size = size

    def size(self) -> int:
        """Length in bytes."""
        return self._size

    def read_at(self, length: int, offset: int) -> bytes:
        """A range, in one request."""
        end = min(self._size, offset + length)
        return self._files.range(self._path, offset, end) if offset < end else b""
