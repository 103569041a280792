"""JSON from files that Keyfold has not written."""

from __future__ import annotations

import json
from typing import Any, NoReturn

_MOST_DEPTH = 200
_LIMIT = 1 << 63


def parse_json(text: str) -> Any:  # noqa: ANN401 - JSON is anything
    """Parses JSON.

    Raises:
        ValueError: it is not JSON, or later code could not handle it: it is nested deeper than 200,
        or has a number of more than 64 bits, NaN, an infinity or an unpaired surrogate.
    """
    try:
        found = json.loads(text, parse_constant=_no_number)
    except RecursionError as error:
        raise ValueError(f"it is nested deeper than {_MOST_DEPTH}") from error
    level = [found]
    for _ in range(_MOST_DEPTH):
        level = [inner for it in level for inner in _inside(it)]
        if not level:
            return found
    raise ValueError(f"it is nested deeper than {_MOST_DEPTH}")


def _inside(it: Any) -> list[Any]:  # noqa: ANN401
    """The members of a value; none for a text or number."""
    if isinstance(it, dict):
        return [*it.keys(), *it.values()]
    if isinstance(it, list):
        return it
    if isinstance(it, str) and not it.isascii():
        # An unpaired surrogate raises UnicodeEncodeError, which is a ValueError.
        it.encode()
    if isinstance(it, int | float) and not -_LIMIT <= it < _LIMIT:
        raise ValueError("it has a number that is out of range")
    return []


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
