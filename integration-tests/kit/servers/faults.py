"""The faults of an object store, drawn from a seed."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import asdict, dataclass

from kit.servers.s3_request import PUT, PUT_PART, WRITES, S3Request


@dataclass(frozen=True)
class Faults:
    """How often each happens to a request that it may happen to, from 0 to 1.

    - `slow_down`: 503 SlowDown, `internal_error`: 500 InternalError; the request is not done
    - `conflict`: 409 ConditionalRequestConflict to a conditional PUT; it is not done
    - `reset`: the connection is reset in the middle of a PUT's body; it is not done
    - `lost_answer`: what writes is done, and the connection is reset before its answer
    - `hang`: the request is done after `hang_s` seconds, also if the client has given up
    """

    slow_down: float = 0
    internal_error: float = 0
    conflict: float = 0
    reset: float = 0
    lost_answer: float = 0
    hang: float = 0
    hang_s: float = 5


class Draw:
    """Which fault happens to which request: the same for the same seed and order of requests.

    An operation on a place in a checkpoint has draws of its own: the order of others is nothing
    to it, as tasks' requests come in any order.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._drawn: Counter[tuple[str, str]] = Counter()

    def fault(self, faults: Faults, request: S3Request, place: str) -> str | None:
        """The name of the fault that happens to the next such request; None for none."""
        of = (request.operation, place)
        self._drawn[of] += 1
        seed = f"{self._seed} {of} {self._drawn[of]}"
        chance = random.Random(seed).random()  # noqa: S311 - to be repeated, not to be secret
        for name, share in asdict(faults).items():
            if name != "hang_s" and _may_happen(name, request):
                if chance < share:
                    return name
                chance -= share
        return None


def _may_happen(fault: str, request: S3Request) -> bool:
    if fault == "conflict":
        return request.conditional
    if fault == "reset":
        return request.operation in {PUT, PUT_PART}
    if fault == "lost_answer":
        return request.operation in WRITES
    return True


ERRORS = {
    "slow_down": (503, "SlowDown", "Please reduce your request rate."),
    "internal_error": (500, "InternalError", "We encountered an internal error."),
    "conflict": (409, "ConditionalRequestConflict", "A conflicting operation is in progress."),
}


def error_answer(fault: str, method: str) -> bytes:
    """The server's answer to a request that it does not do."""
    status, code, message = ERRORS[fault]
    body = f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code>'
    body += f"<Message>{message}</Message></Error>"
    head = f"HTTP/1.1 {status} {code}\r\nContent-Type: application/xml\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    return (head if method == "HEAD" else head + body).encode()
