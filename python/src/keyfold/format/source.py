"""A source of a file's bytes: anything with a size and ranged reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Source:
    """An open file: its path, for messages, its length in bytes, and how to read it.

    `read` gives so many bytes from an offset, in this order: offset, length; fewer only if the file
    has become shorter.
    """

    path: str
    size: int
    read: Callable[[int, int], bytes]


class BytesSource(Source):
    """A file whose bytes are in memory."""

    def __init__(self, path: str, content: bytes) -> None:
        super().__init__(path, len(content), lambda offset, length: content[offset:][:length])
