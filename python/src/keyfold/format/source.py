"""A source of a file's bytes: anything with a size and ranged reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Source(Protocol):
    """An open file."""

    @property
    def path(self) -> str:
        """Its path, for messages."""

    @property
    def size(self) -> int:
        """Length in bytes."""

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`; fewer only if the file has become shorter."""


@dataclass
class BytesSource:
    """A file whose bytes are in memory."""

    path: str
    content: bytes

    @property
    def size(self) -> int:
        """Length in bytes."""
        return len(self.content)

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`."""
        return self.content[offset : offset + length]
