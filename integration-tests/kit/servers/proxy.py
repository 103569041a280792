"""A proxy between S3 clients and their server: it counts, holds back, and does harm."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from asyncio import StreamReader, StreamWriter
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from kit.servers.connection import Connection, Verdict
from kit.servers.faults import Draw, Faults
from kit.servers.http_messages import PIECE_BYTES
from kit.servers.s3_request import S3Request, place_of


class Proxy:
    """Passes requests on to a server at 127.0.0.1, in a thread of its own, until `close`.

    `delay_ms` and `faults` may be changed at any time, and hold from the next request on. The
    headers that a client signs, Host among them, reach the server unchanged.
    """

    def __init__(
        self, server: int, *, port: int = 0, seed: int = 0, place: Callable[[str], str] = place_of
    ) -> None:
        """Listens to `port`, or to any free one, for the server at port `server`.

        `seed` decides which requests have faults; `place` classes keys for counts and faults.
        """
        self.delay_ms: float = 0
        self.faults = Faults()
        self._server, self._place = server, place
        self._draw = Draw(seed)
        self._counted: Counter[tuple[str, str]] = Counter()
        self._happened: Counter[str] = Counter()
        self._connections = 0
        listener = socket.create_server(("127.0.0.1", port), backlog=128)
        self.port = int(listener.getsockname()[1])
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._thread = threading.Thread(target=self._run, args=(listener,), daemon=True)
        self._thread.start()

    @property
    def counted(self) -> Counter[tuple[str, str]]:
        """How many requests there were, by operation and place of the key."""
        return self._counted.copy()

    @property
    def happened(self) -> Counter[str]:
        """How many faults there were, by name."""
        return self._happened.copy()

    def close(self) -> None:
        """Ends the thread and all connections."""
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    def _run(self, listener: socket.socket) -> None:
        self._loop.run_until_complete(self._listen(listener))
        self._loop.close()

    async def _listen(self, listener: socket.socket) -> None:
        server = await asyncio.start_server(self._serve, sock=listener, limit=PIECE_BYTES)
        await self._closing.wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._connections += 1
        try:
            # asyncio would report it as an error that `close` ends connections.
            with suppress(asyncio.CancelledError):
                await Connection(reader, writer, self._server, self._judge, self._steer).serve()
        finally:
            self._connections -= 1

    def _judge(self, request: S3Request) -> Verdict:
        place = self._place(request.key)
        self._counted[request.operation, place] += 1
        faults = self.faults
        fault = self._draw.fault(faults, request, place)
        if fault:
            self._happened[fault] += 1
        return Verdict(self.delay_ms / 1000, fault, faults.hang_s)

    def _steer(self, said: bytes) -> bytes:
        """For other processes: takes `delay_ms` and faults by name, tells and forgets counts.

        And tells how many connections there are but the asker's: without any, all that was asked
        of the server before is done.
        """
        wanted = json.loads(said or b"{}")
        self.delay_ms = wanted.pop("delay_ms", self.delay_ms)
        if wanted:
            self.faults = Faults(**wanted)
        told = {
            "counted": {" ".join(it): count for it, count in self._counted.items()},
            "happened": dict(self._happened),
            "connections": self._connections - 1,
        }
        self._counted.clear()
        self._happened.clear()
        return json.dumps(told).encode()
