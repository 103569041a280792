"""Rows from JSON, as `json_text` writes them: values of every type of Arrow's."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

_MAX_FLOAT32 = 3.4028235677973366e38


def rows_of(lines: Iterable[str], schema: pa.Schema, others: Iterable[str] = ()) -> pa.Table:
    """The rows of lines with an object of JSON each. A time without a zone is in UTC.

    Args:
        lines: an object each, or nothing.
        schema: the columns that are read.
        others: columns that an object may have besides.

    Raises:
        ValueError: a line is not an object, lacks a column or a field, has another one, or has a
            value that does not fit.
    """
    row = pa.struct(list(schema))
    ignored = set(others)
    values = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            given = json.loads(line, parse_float=_float, object_pairs_hook=_members)
            if isinstance(given, dict):
                given = {name: it for name, it in given.items() if name not in ignored}
            value = _value(given, row)
            pa.scalar(value, row)
            values.append(value)
        except (ValueError, TypeError, ArithmeticError, pa.ArrowException) as error:
            raise ValueError(f"line {number}: {error}") from error
    if not values:
        raise ValueError("it has no rows")
    return pa.Table.from_pylist(values, schema)


def _float(text: str) -> float | Decimal:
    # Python reads a number that is too large as infinity.
    value = float(text)
    return Decimal(text) if math.isinf(value) else value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"an object has a member twice: {', '.join(name for name, _ in pairs)}")
    return found


def _value(value: Any, kind: pa.DataType) -> Any:  # noqa: ANN401
    """A value as Python has it."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return _struct(value, kind)
    if pa.types.is_map(kind):
        entry = pa.struct({"key": kind.key_type, "value": kind.item_type})
        return [tuple(_struct(it, entry).values()) for it in _list(value, kind)]
    if pa.types.is_list(kind):
        return [_value(it, kind.value_type) for it in _list(value, kind)]
    for is_kind, parse in _PARSED:
        # What Python's own types cannot hold is a number, as it is printed.
        if is_kind(kind) and isinstance(value, str):
            return _zoned(parse(value), value, kind)
    return timedelta(seconds=value) if pa.types.is_duration(kind) else _checked(value, kind)


def _list(value: Any, kind: pa.DataType) -> list[Any]:  # noqa: ANN401
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list, as {kind} needs")
    return value


def _zoned(value: Any, text: str, kind: pa.DataType) -> Any:  # noqa: ANN401
    if isinstance(value, datetime) and value.tzinfo and kind.tz is None:
        raise ValueError(f"{text!r} has a zone, and the column has times without one")
    return value


def _checked(value: Any, kind: pa.DataType) -> Any:  # noqa: ANN401
    """A value that Arrow would take, and may change."""
    if pa.types.is_integer(kind) and isinstance(value, float):
        if not value.is_integer():
            raise ValueError(f"{value!r} is no whole number")
        return int(value)
    if isinstance(value, bool) and not pa.types.is_boolean(kind):
        raise ValueError(f"{value!r} is no {kind}")
    if pa.types.is_floating(kind) and _is_too_large(value, kind):
        raise ValueError(f"{value!r} is too large for {kind}")
    if pa.types.is_temporal(kind) and _has_text(value, kind):
        raise ValueError(f"{value!r} is no time: write it as text, as it is printed")
    return value


def _has_text(value: Any, kind: pa.DataType) -> bool:  # noqa: ANN401
    scalar = pa.scalar(value, kind)
    try:
        scalar.as_py()
    except (OverflowError, ValueError):
        return False
    return True


def _is_too_large(value: Any, kind: pa.DataType) -> bool:  # noqa: ANN401
    is_float = kind == pa.float32()
    return isinstance(value, Decimal) or (
        is_float and math.isfinite(value) and abs(value) >= _MAX_FLOAT32
    )


def _struct(value: Any, kind: pa.StructType) -> dict[str, Any]:  # noqa: ANN401
    names = [it.name for it in kind]
    if len(set(names)) < len(names):
        raise ValueError(f"JSON has no way to write two fields of one name: {', '.join(names)}")
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is no object with {', '.join(names)}")
    if unknown := sorted(value.keys() - set(names)):
        raise ValueError(f"there is no {unknown[0]}, but {', '.join(names)}")
    if missing := [it for it in names if it not in value]:
        raise ValueError(f"{missing[0]} is missing of {', '.join(names)}; write null if it is null")
    return {it.name: _value(value[it.name], it.type) for it in kind}


_PARSED: tuple[tuple[Callable[[pa.DataType], bool], Callable[[str], Any]], ...] = (
    (pa.types.is_timestamp, datetime.fromisoformat),
    (pa.types.is_date, date.fromisoformat),
    (pa.types.is_decimal, Decimal),
    (pa.types.is_binary, bytes.fromhex),
)
