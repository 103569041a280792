# ruff: noqa: ANN401 - a value is whatever a user passes
"""Converters of whole types, on the way into a state and out of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from keyfold.subtasks import values
from keyfold.subtasks.values import Convert, UnfitError

_OUTPUT: Final[dict[str, Convert]] = {
    **{it: values.whole(it) for it in ("byte", "short", "integer", "long")},
    **{it: values.real(it) for it in ("float", "double")},
    "boolean": values.boolean,
    "string": values.string,
    "binary": values.binary,
    "date": values.day,
    "timestamp": values.instant,
    "timestamp_ntz": values.wall_clock,
}
_STATE: Final = {**_OUTPUT, "date": values.day_of_state, "timestamp": values.instant_of_state}
_SEQUENCES: Final = (tuple, list, np.ndarray)
_NUMPYS_PLAIN_KINDS: Final = "biufU"
_LONGEST_SHOWN: Final = 200


def into(kind: Any, *, nullable: bool, is_state: bool = True) -> Convert:
    """A converter that raises UnfitError alone; for the output unless it is for a state.

    Raises:
        UnfitError: a state cannot hold the type.
    """
    convert = _into(kind, kind.typeName(), is_state=is_state)

    def checked(value: Any) -> Any:
        if value is None:
            if nullable:
                return None
            raise UnfitError("None is given, and the schema says NOT NULL")
        is_plain = isinstance(value, np.generic) and value.dtype.kind in _NUMPYS_PLAIN_KINDS
        try:
            return convert(value.item() if is_plain else value)
        except UnfitError:
            raise
        except (ArithmeticError, TypeError, ValueError) as error:
            raise UnfitError(f"{shown(value)} is no {kind.simpleString()}") from error

    return checked


def _into(kind: Any, name: str, *, is_state: bool) -> Convert:
    if name == "decimal":
        return values.decimal(kind.precision, kind.scale)
    if name == "array":
        element = into(kind.elementType, nullable=kind.containsNull, is_state=is_state)
        return lambda value: [element(it) for it in _sequence(value)]
    if name == "map":
        key = into(kind.keyType, nullable=False, is_state=is_state)
        held = into(kind.valueType, nullable=kind.valueContainsNull, is_state=is_state)
        return lambda value: _map([(key(k), held(it)) for k, it in _pairs(value)])
    if name == "struct":
        fields = [into(it.dataType, nullable=it.nullable, is_state=is_state) for it in kind]
        return lambda value: tuple(
            field(it) for field, it in zip(fields, in_order(value, kind.names), strict=True)
        )
    leaves = _STATE if is_state else _OUTPUT
    if name not in leaves:
        raise UnfitError(f"Keyfold converts no values to {kind.simpleString()}")
    return leaves[name]


def out_of(kind: Any) -> Convert:
    """A converter that brings timestamps, which PySpark gives without a zone, to UTC.

    It takes structs and maps also as Arrow gives them, as dicts and lists of pairs.
    """
    from pyspark.sql import Row  # noqa: PLC0415 - only an operator needs PySpark

    name = kind.typeName()
    if name == "timestamp":
        return _unless_none(values.utc)
    if name == "array":
        element = out_of(kind.elementType)
        return _unless_none(lambda value: list(map(element, value)))
    if name == "map":
        key, held = out_of(kind.keyType), out_of(kind.valueType)
        return _unless_none(lambda value: {key(k): held(it) for k, it in _pairs(value)})
    if name == "struct":
        make, fields = Row(*kind.names), [out_of(it.dataType) for it in kind]
        return _unless_none(
            lambda value: make(*(it(held) for it, held in zip(fields, _fields(value), strict=True)))
        )
    return lambda value: value


def in_order(row: Any, names: Sequence[str]) -> Any:
    """The values of a row by order, or by names if it has them.

    Raises:
        UnfitError: there are other values than names.
    """
    if isinstance(row, Mapping):
        named: Mapping[Any, Any] = row
    elif isinstance(row, tuple) and (own := _names(row)) is not None and list(own) != list(names):
        named = dict(zip(own, row, strict=True))
    elif isinstance(row, _SEQUENCES):
        if len(row) != len(names):
            raise UnfitError(f"{shown(row)} has {len(row)} values for {len(names)} fields")
        return row
    else:
        raise UnfitError(f"{shown(row)} is no row: give a tuple, a Row or a dict")
    if set(named) != set(names) or len(named) != len(names):
        raise UnfitError(f"{shown(row)} has other names than {', '.join(names)}")
    return [named[it] for it in names]


def shown(value: Any) -> str:
    """A value in a message."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]} ..."


def _names(row: tuple[Any, ...]) -> Sequence[str] | None:
    """Of PySpark's Row, or of a named tuple."""
    return getattr(row, "__fields__", None) or getattr(row, "_fields", None)


def _sequence(value: Any) -> Any:
    if not isinstance(value, _SEQUENCES):
        raise TypeError
    return value


def _pairs(value: Any) -> Any:
    """The entries of a dict, or of the list of pairs that Arrow makes of a map."""
    return value.items() if isinstance(value, Mapping) else _sequence(value)


def _map(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError
    return entries


def _fields(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, Mapping) else value


def _unless_none(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)
