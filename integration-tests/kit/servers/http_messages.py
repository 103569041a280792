"""HTTP/1.1 messages as a proxy passes them on: the head is read, bodies are bytes."""

from __future__ import annotations

from asyncio import IncompleteReadError, StreamReader
from collections.abc import AsyncIterator
from dataclasses import dataclass

PIECE_BYTES = 1 << 16


@dataclass(frozen=True)
class Head:
    """The lines before a body. `start` is the first one; names of headers are in lower case."""

    start: str
    headers: dict[str, str]
    raw: bytes

    @property
    def length(self) -> int | None:
        """How many bytes the body has; None if it is chunked, or ends with the connection."""
        said = None if self.chunked else self.headers.get("content-length")
        return None if said is None else int(said)

    @property
    def chunked(self) -> bool:
        return self.headers.get("transfer-encoding", "").lower() == "chunked"

    @property
    def closes(self) -> bool:
        """Whether the connection ends with this message."""
        return self.headers.get("connection", "").lower() == "close"

    def without(self, name: str) -> bytes:
        """The bytes of the head, but for one header."""
        prefix = f"{name}:".encode()
        lines = [it for it in self.raw.split(b"\r\n") if not it.lower().startswith(prefix)]
        return b"\r\n".join(lines)


async def read_head(reader: StreamReader) -> Head | None:
    """The next head; None if the connection ends before one.

    Raises:
        IncompleteReadError: the connection ends within it.
        LimitOverrunError: it is longer than the reader allows.
    """
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except IncompleteReadError as error:
        if error.partial:
            raise
        return None
    start, *lines = raw[:-4].decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return Head(start, headers, raw)


async def body_of_request(head: Head, reader: StreamReader) -> AsyncIterator[bytes]:
    """Its pieces, as they are on the wire. Raises IncompleteReadError if the connection ends."""
    if head.chunked:
        async for piece in _chunks(reader):
            yield piece
    else:
        async for piece in _pieces(reader, head.length or 0):
            yield piece


async def body_of_answer(head: Head, method: str, reader: StreamReader) -> AsyncIterator[bytes]:
    """Like `body_of_request`; a body without a length ends with the connection."""
    if method == "HEAD" or status_of(head) in {204, 304}:
        return
    if head.chunked:
        async for piece in _chunks(reader):
            yield piece
    elif head.length is not None:
        async for piece in _pieces(reader, head.length):
            yield piece
    else:
        while piece := await reader.read(PIECE_BYTES):
            yield piece


def status_of(answer: Head) -> int:
    return int(answer.start.split(" ", 2)[1])


async def _pieces(reader: StreamReader, length: int) -> AsyncIterator[bytes]:
    left = length
    while left > 0:
        piece = await reader.read(min(left, PIECE_BYTES))
        if not piece:
            raise IncompleteReadError(b"", left)
        left -= len(piece)
        yield piece


async def _chunks(reader: StreamReader) -> AsyncIterator[bytes]:
    """Chunks with their sizes and ends, then what comes behind the last."""
    size = -1
    while size != 0:
        line = await reader.readuntil(b"\r\n")
        yield line
        size = int(line.partition(b";")[0], 16)
        async for piece in _pieces(reader, size + 2 if size else 0):
            yield piece
    while True:
        line = await reader.readuntil(b"\r\n")
        yield line
        if line == b"\r\n":
            return
