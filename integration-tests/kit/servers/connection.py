"""One client's connection to the proxy, and the connection to the server that belongs to it."""

from __future__ import annotations

import asyncio
import socket
import struct
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader, StreamWriter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from kit.servers.faults import ERRORS, error_answer
from kit.servers.http_messages import (
    PIECE_BYTES,
    Head,
    body_of_answer,
    body_of_request,
    read_head,
    status_of,
)
from kit.servers.s3_request import S3Request, s3_request

Stream = tuple[StreamReader, StreamWriter]

# A request to this path steers the proxy, and does not reach the server.
STEERING = "/.proxy"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
# With it closing sends a reset, and nothing that was waiting to be sent.
LINGER = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Verdict:
    """What happens to a request: it is held back, and may have a fault, one of `Faults`."""

    delay_s: float
    fault: str | None
    hang_s: float


class Connection:
    """Passes on one request after the other, each with its answer, until one of the ends closes."""

    def __init__(
        self,
        reader: StreamReader,
        writer: StreamWriter,
        server: int,
        judge: Callable[[S3Request], Verdict],
        steer: Callable[[bytes], bytes],
    ) -> None:
        """`judge` is asked once for each request to the server, at that port of 127.0.0.1."""
        self._reader, self._writer = reader, writer
        self._port, self._judge, self._steer = server, judge, steer
        self._server: Stream | None = None

    async def serve(self) -> None:
        """Returns when it has ended; never raises for what clients or the server do."""
        try:
            while head := await read_head(self._reader):
                if not await self._exchange(head):
                    break
        except (ConnectionError, IncompleteReadError, LimitOverrunError):
            pass  # An end is gone, and so is the connection to the other one.
        finally:
            self._writer.close()
            if self._server:
                self._server[1].close()

    async def _exchange(self, head: Head) -> bool:
        """Whether another request may follow."""
        method, path, _ = head.start.split(" ", 2)
        # The server is not asked: it would have to be believed before a fault is known.
        if "expect" in head.headers:
            self._writer.write(CONTINUE)
        body = body_of_request(head, self._reader)
        if path == STEERING:
            answer = self._steer(b"".join([piece async for piece in body]))
            await self._say(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)
            return True
        verdict = self._judge(s3_request(head))
        if verdict.delay_s:
            await asyncio.sleep(verdict.delay_s)
        if verdict.fault in ERRORS:
            async for _ in body:
                pass
            await self._say(error_answer(verdict.fault, method))
            return not head.closes
        if verdict.fault == "hang":
            held = [piece async for piece in body]
            await asyncio.sleep(verdict.hang_s)
            body = _again(held)
        return await self._pass_on(head, body, verdict.fault) and not head.closes

    async def _pass_on(self, head: Head, body: AsyncIterator[bytes], fault: str | None) -> bool:
        """Whether the client's connection may go on, also if the server's does not."""
        reader, writer = await self._send(head, body, whole=fault != "reset")
        if fault == "reset":
            # Not closed: versitygw v1.8.0 keeps the half of an unsigned body that ends like that.
            _reset(writer)
            _reset(self._writer)
            return False
        while status_of(answer := await _required(reader)) < 200:  # noqa: PLR2004
            pass
        if fault == "lost_answer":
            _reset(self._writer)
            return False
        method = head.start.partition(" ")[0]
        ends = method != "HEAD" and answer.length is None and not answer.chunked
        unsent = answer.raw if ends else answer.without("connection")
        async for piece in body_of_answer(answer, method, reader):
            await self._say(unsent + piece)
            unsent = b""
        await self._say(unsent)
        if answer.closes:
            writer.close()
            self._server = None
        return not ends

    async def _send(self, head: Head, body: AsyncIterator[bytes], *, whole: bool) -> Stream:
        """Sends the request, or the first half of its first piece; where its answer comes from."""
        if self._server is None or self._server[0].at_eof():
            self._server = await asyncio.open_connection("127.0.0.1", self._port, limit=PIECE_BYTES)
        _, writer = self._server
        unsent = bytearray(head.without("expect") if "expect" in head.headers else head.raw)
        async for piece in body:
            if not whole:
                unsent += piece[: len(piece) // 2]
                break
            # The end of a body goes with what is before it: a server may answer and close without
            # having read the end.
            unsent += piece
            if len(unsent) > PIECE_BYTES:
                writer.write(unsent)
                unsent = bytearray()
                await writer.drain()
        writer.write(unsent)
        await writer.drain()
        return self._server

    async def _say(self, said: bytes) -> None:
        self._writer.write(said)
        await self._writer.drain()


def _reset(writer: StreamWriter) -> None:
    end = writer.get_extra_info("socket")
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)
    writer.transport.abort()


async def _again(pieces: list[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def _required(reader: StreamReader) -> Head:
    head = await read_head(reader)
    if head is None:
        raise ConnectionResetError("The server has closed the connection before its answer")
    return head
