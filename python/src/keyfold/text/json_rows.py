"""Rows from JSON, as `json_text` writes them: values of every type of Arrow's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]


def rows_of(lines: Iterable[str], schema: pa.Schema, others: Iterable[str] = ()) -> pa.Table:
    """The rows of lines with an object of JSON each; what an object lacks is null.

    Args:
        lines: an object each, or nothing.
        schema: the columns that are read.
        others: columns that an object may have besides.

    Raises:
        ValueError: a line is not an object, or has a column, a field or a value that does not fit.
    """
    row = pa.struct(list(schema))
    ignored = set(others)
    values = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
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


def _value(value: Any, kind: pa.DataType) -> Any:  # noqa: ANN401
    """A value as Python has it."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return _struct(value, kind)
    if pa.types.is_map(kind):
        return [
            (_value(it["key"], kind.key_type), _value(it["value"], kind.item_type)) for it in value
        ]
    if pa.types.is_list(kind):
        return [_value(it, kind.value_type) for it in value]
    for is_kind, parse in _PARSED:
        # What Python's own types cannot hold is a number, as it is printed.
        if is_kind(kind) and isinstance(value, str):
            return parse(value)
    return timedelta(seconds=value) if pa.types.is_duration(kind) else value


def _struct(value: Any, kind: pa.StructType) -> dict[str, Any]:  # noqa: ANN401
    names = [it.name for it in kind]
    if len(set(names)) < len(names):
        raise ValueError(f"JSON has no way to write two fields of one name: {', '.join(names)}")
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is no object with {', '.join(names)}")
    if unknown := sorted(value.keys() - set(names)):
        raise ValueError(f"there is no {unknown[0]}, but {', '.join(names)}")
    return {it.name: _value(value.get(it.name), it.type) for it in kind}


_PARSED: tuple[tuple[Callable[[pa.DataType], bool], Callable[[str], Any]], ...] = (
    (pa.types.is_timestamp, datetime.fromisoformat),
    (pa.types.is_date, date.fromisoformat),
    (pa.types.is_decimal, Decimal),
    (pa.types.is_binary, bytes.fromhex),
)
