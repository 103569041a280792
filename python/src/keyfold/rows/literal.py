"""Values from users, as Arrow values, and Spark's order of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.errors import InvalidArgumentError
from keyfold.schema.arrow_type import arrow_type
from keyfold.schema.data_type import Array, DataType, Map, Struct
from keyfold.text.arrow_values import to_python

_TIMES = (pa.TimestampScalar, pa.Date32Scalar, pa.DurationScalar, pa.Time64Scalar)


def one_value(value: Any, it: DataType, name: str) -> pa.Array:  # noqa: ANN401
    """A column with one value; text is parsed by the column's type.

    A map is a dictionary, pairs, or objects with `key` and `value`; its entries become sorted.

    Raises:
        InvalidArgumentError: the value is not of that type.
    """
    arrow = arrow_type(it)
    try:
        return pa.array([_prepared(value, it, name)], arrow)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InvalidArgumentError(
            f"Invalid value {value!r} of {name}: it is not of type {arrow}."
        ) from error


def _prepared(value: Any, it: DataType, name: str) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping) and isinstance(it, Struct):
        unknown = value.keys() - set(it.names)
        if unknown:
            raise InvalidArgumentError(
                f"Invalid value of {name}: it has no fields {sorted(unknown)}; its fields are "
                f"{list(it.names)}."
            )
        return {
            field.name: _prepared(value.get(field.name), field.type, field.name)
            for field in it.fields
        }
    if isinstance(value, list | tuple) and isinstance(it, Array):
        return [_prepared(each, it.element, name) for each in value]
    if isinstance(value, Mapping | list | tuple) and isinstance(it, Map):
        return _entries(value, it, name)
    arrow = arrow_type(it)
    if isinstance(value, str) and not pa.types.is_string(arrow):
        if pa.types.is_binary(arrow):
            return value.encode()
        return to_python(from_text(value, arrow))[0]
    return value


def _entries(value: Any, it: Map, name: str) -> list[tuple[Any, Any]]:  # noqa: ANN401
    """The entries of a map in the order in which Spark sorts a grouping key's."""
    given = value.items() if isinstance(value, Mapping) else value
    pairs = [
        (each.get("key"), each.get("value")) if isinstance(each, Mapping) else each
        for each in given
    ]
    keys = [_prepared(key, it.key, name) for key, _ in pairs]
    values = [_prepared(each, it.value, name) for _, each in pairs]
    ranks = [rank(key) for key in pa.array(keys, arrow_type(it.key))]
    return [(keys[at], values[at]) for at in sorted(range(len(keys)), key=ranks.__getitem__)]


def from_text(text: str, arrow: pa.DataType) -> pa.Array:
    """Parses a text; a time without a zone is in UTC. Raises ArrowException."""
    texts = pa.array([text])
    if not pa.types.is_timestamp(arrow) or arrow.tz is None:
        return texts.cast(arrow)
    try:
        return texts.cast(arrow)
    except pa.ArrowInvalid:
        return texts.cast(pa.timestamp(arrow.unit)).cast(arrow)


def rank(scalar: pa.Scalar) -> tuple[Any, ...]:
    """What sorts values of one type as Spark does: nulls first, NaN last, one zero.

    Equal values have equal ranks; a map's does not depend on the order of its entries.
    """
    if not scalar.is_valid:
        return (0,)
    match scalar:
        case pa.StructScalar():
            return (1, *map(rank, scalar.values()))
        case pa.MapScalar():
            return (1, *sorted(map(rank, scalar.values)))
        case pa.ListScalar():
            return (1, *map(rank, scalar.values))
    # Python has no number for a time after the year 9999.
    value = scalar.value if isinstance(scalar, _TIMES) else scalar.as_py()
    if isinstance(value, float):
        return (1, value != value, 0.0 if value != value else value)  # noqa: PLR0124 - NaN
    return (1, value)
