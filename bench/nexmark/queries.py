"""All questions of Nexmark, in order."""

from typing import Final

from bench.nexmark.query import Query
from bench.nexmark.running import RUNNING
from bench.nexmark.stateless import STATELESS
from bench.nexmark.windowed import WINDOWED

_LEFT_OUT: Final = (
    Query(
        "q6",
        "the average price of each seller's last ten auctions",
        "no: windows of rows (`OVER ... ROWS`) are refused on a stream, so it needs a user's"
        " function (`transformWithState`). Flink's SQL cannot say it either",
    ),
)
QUERIES: Final = tuple(
    sorted((*STATELESS, *WINDOWED, *RUNNING, *_LEFT_OUT), key=lambda it: int(it.name[1:]))
)
ASKED: Final = tuple(it for it in QUERIES if it.sql)
STATEFUL: Final = tuple(it for it in ASKED if it.has_state)


def query_of(name: str) -> Query:
    """By its name."""
    return next(it for it in ASKED if it.name == name)
