"""JSON: from files that Keyfold has not written, and of values of every type."""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NoReturn

_MOST_DEPTH = 200
_LIMIT = 1 << 63


def parse_object(text: str) -> dict[str, Any]:
    """Parses an object of JSON.

    Raises:
        ValueError: it is not an object of JSON, or later code could not handle it: it is nested
        deeper than 200, or has a number of more than 64 bits, NaN, an infinity or an unpaired
        surrogate.
    """
    try:
        parsed = json.loads(text, parse_constant=_no_number)
    except RecursionError as error:
        raise ValueError(f"it is nested deeper than {_MOST_DEPTH}") from error
    if not isinstance(parsed, dict):
        raise ValueError(f"it is a {type(parsed).__name__}")  # noqa: TRY004 - it is of the text
    level: list[Any] = [parsed]
    for _ in range(_MOST_DEPTH):
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return parsed
    raise ValueError(f"it is nested deeper than {_MOST_DEPTH}")


def _inside(value: Any) -> list[Any]:  # noqa: ANN401
    """The members of a value; none for a text or number."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list):
        return value
    if isinstance(value, str) and not value.isascii():
        # An unpaired surrogate raises UnicodeEncodeError, which is a ValueError.
        value.encode()
    if isinstance(value, int | float) and not -_LIMIT <= value < _LIMIT:
        raise ValueError("it has a number that is out of range")
    return []


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def json_text(value: Any) -> str:  # noqa: ANN401
    """Values of columns as JSON on one line; a map is a list of objects with `key` and `value`."""
    return json.dumps(_with_maps(value), default=_plain)


def _with_maps(value: Any) -> Any:  # noqa: ANN401
    """A map, which Arrow gives as a list of pairs, becomes a list of objects."""
    if isinstance(value, dict):
        return {name: _with_maps(inner) for name, inner in value.items()}
    if isinstance(value, list):
        # An interval is a tuple of its own class, and stays a list of numbers.
        return [
            {"key": _with_maps(inner[0]), "value": _with_maps(inner[1])}
            if type(inner) is tuple
            else _with_maps(inner)
            for inner in value
        ]
    return value


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Values of types that JSON does not have."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
