"""JSON from files that somebody else has written."""

from __future__ import annotations

import json
from typing import Any, NoReturn

_MOST_DEPTH = 200
_LIMIT = 1 << 63


def parse_json(text: str) -> Any:  # noqa: ANN401 - JSON is anything
    """What a text says.

    Raises:
        ValueError: it is not JSON, or JSON that whoever goes on with it would stumble over: nested
            deeper than 200, a number that is none or has more than 64 bits, half a character.
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
    """What a value consists of; of a text or a number, nothing."""
    if isinstance(it, dict):
        return [*it.keys(), *it.values()]
    if isinstance(it, list):
        return it
    if isinstance(it, str) and not it.isascii():
        # Half a character of two is a UnicodeEncodeError, which is a ValueError.
        it.encode()
    if isinstance(it, int | float) and not -_LIMIT <= it < _LIMIT:
        raise ValueError("it has a number that is out of range")
    return []


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
