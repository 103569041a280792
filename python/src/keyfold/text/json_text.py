"""JSON: from files that Keyfold has not written, and of values of every type."""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NoReturn

import pyarrow as pa  # type: ignore[import-untyped]

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


def json_text(value: Any) -> str:  # noqa: ANN401
    """Values of columns as JSON on one line; a map is a list of objects with `key` and `value`."""
    return json.dumps(_with_maps(value), default=_plain)


def _with_maps(value: Any) -> Any:  # noqa: ANN401
    """A map, which Arrow gives as a list of pairs, stays a list of objects."""
    if isinstance(value, dict):
        return {name: _with_maps(it) for name, it in value.items()}
    if isinstance(value, list):
        return [
            {"key": _with_maps(it[0]), "value": _with_maps(it[1])}
            if isinstance(it, tuple)
            else _with_maps(it)
            for it in value
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
    if isinstance(value, pa.MonthDayNano):
        return {"months": value.months, "days": value.days, "nanoseconds": value.nanoseconds}
    raise TypeError(f"{type(value).__name__} has no form in JSON")
