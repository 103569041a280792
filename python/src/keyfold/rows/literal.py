"""Values from users, as Arrow values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.errors import InvalidArgumentError
from keyfold.schema.arrow_type import arrow_type
from keyfold.schema.data_type import DataType, Struct


def one_value(value: Any, it: DataType, name: str) -> pa.Array:  # noqa: ANN401
    """A column with one value; text is parsed by the column's type.

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
    arrow = arrow_type(it)
    if isinstance(value, str) and not pa.types.is_string(arrow):
        if pa.types.is_binary(arrow):
            return value.encode()
        return from_text(value, arrow)[0].as_py()
    return value


def from_text(text: str, arrow: pa.DataType) -> pa.Array:
    """Parses a text; a time without a zone is in UTC. Raises ArrowException."""
    texts = pa.array([text])
    if not pa.types.is_timestamp(arrow) or arrow.tz is None:
        return texts.cast(arrow)
    try:
        return texts.cast(arrow)
    except pa.ArrowInvalid:
        return texts.cast(pa.timestamp(arrow.unit)).cast(arrow)
