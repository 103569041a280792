"""Requests to the server of the checkpoints: counted by the proxy before it, by query and place."""

import json
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.request import urlopen

# Folders of a checkpoint. Its metadata is something else, and so is a request about no object.
PARTS = ("state", "offsets", "commits", "sources", "other")
ATTEMPTS = 250
PAUSE_SECONDS = 0.02

# How many requests there were of each name, which is that of a `Request`.
Counts = Counter[str]


@dataclass(frozen=True)
class Request:
    """What a request asks for (PUT, LIST), in which query's checkpoint and which of `PARTS`."""

    kind: str
    query: str
    part: str

    @classmethod
    def named(cls, name: str) -> "Request":
        """Read the proxy's name of it: the kind, a space, `query_and_part`."""
        kind, _, place = name.rpartition(" ")
        query, _, part = place.partition("/")
        return cls(kind, query, part)


def query_and_part(key: str) -> str:
    """Class an object, or the prefix of a listing: `delays/state`."""
    _, query, part, *_ = [*key.split("/"), "", "", ""]
    return f"{query}/{part if part in PARTS else PARTS[-1]}"


def taken(counter: str) -> Counts:
    """Take the numbers of requests since the last time that anyone did."""
    return Counter(_asked(counter)["counted"])


def taken_when_done(counter: str) -> Counts:
    """Take them when nobody is connected any more: a client that was killed may have asked still.

    One that does not come to its end is not waited for long.
    """
    counts: Counts = Counter()
    for _ in range(ATTEMPTS):
        told = _asked(counter)
        counts.update(told["counted"])
        if told["connections"] == 0:
            break
        time.sleep(PAUSE_SECONDS)
    return counts


def _asked(counter: str) -> dict[str, Any]:
    with urlopen(counter) as answer:  # noqa: S310 - a server that the demo has started
        told: dict[str, Any] = json.load(answer)
    return told
