"""Spark's data types, read from the JSON that Spark writes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from keyfold.wire.cursor import MalformedError

_DECIMAL = re.compile(r"decimal\(([1-9]|[12]\d|3[0-8]),(-?\d{1,2})\)")
_TEXT = re.compile(r"string collate .+|(?:char|varchar)\(\d+\)")
_DAY_TIME = re.compile(r"interval (?:day|hour|minute|second)(?: to (?:hour|minute|second))?")
_YEAR_MONTH = re.compile(r"interval (?:year|month)(?: to month)?")
_TIME = re.compile(r"time\(\d+\)")

# NumPy's types of values of fixed width.
DTYPES = {
    "boolean": "u1",
    "byte": "i1",
    "short": "<i2",
    "integer": "<i4",
    "long": "<i8",
    "float": "<f4",
    "double": "<f8",
    "date": "<i4",
    "timestamp": "<i8",
    "timestamp_ntz": "<i8",
    "year_month": "<i4",
    "day_time": "<i8",
    "time": "<i8",
}
# In bytes, in an UnsafeArrayData; in a row each takes 8.
WIDTHS = {name: np.dtype(it).itemsize for name, it in DTYPES.items()}
_NAMES = WIDTHS.keys() | {"string", "binary", "interval", "variant", "void"}


@dataclass(frozen=True)
class Atomic:
    """A type without parameters; intervals: `year_month`, `day_time`, and calendar `interval`."""

    name: str


@dataclass(frozen=True)
class Decimal:
    """A decimal; up to 18 digits lie unscaled in a long."""

    precision: int
    scale: int

    @property
    def is_long(self) -> bool:
        """Whether it fits a long."""
        return self.precision <= 18  # noqa: PLR2004 - Decimal.MAX_LONG_DIGITS of Spark


@dataclass(frozen=True)
class Field:
    """A column of a struct."""

    name: str
    type: DataType
    nullable: bool


@dataclass(frozen=True)
class Struct:
    """A row."""

    fields: tuple[Field, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(field.name for field in self.fields)

    def __getitem__(self, index: int) -> DataType:
        """Type of a column."""
        return self.fields[index].type

    def take(self, columns: range | list[int]) -> Struct:
        """The struct of some of the columns."""
        return Struct(tuple(self.fields[index] for index in columns))


@dataclass(frozen=True)
class Array:
    """Any number of elements."""

    element: DataType
    nullable: bool


@dataclass(frozen=True)
class Map:
    """Keys and their values."""

    key: DataType
    value: DataType
    nullable: bool


DataType: TypeAlias = Atomic | Decimal | Struct | Array | Map


def has_map(it: DataType) -> bool:
    """Whether it is a map, or has one in it."""
    match it:
        case Struct(fields):
            return any(has_map(field.type) for field in fields)
        case Array(element):
            return has_map(element)
    return isinstance(it, Map)


def as_bytes(it: Struct) -> Struct:
    """The same with strings as the bytes that they are: Spark takes any bytes for a string."""
    return Struct(tuple(replace(field, type=_as_bytes(field.type)) for field in it.fields))


def _as_bytes(it: DataType) -> DataType:
    match it:
        case Struct():
            return as_bytes(it)
        case Array(element):
            return replace(it, element=_as_bytes(element))
        case Map(key, value):
            return replace(it, key=_as_bytes(key), value=_as_bytes(value))
    return Atomic("binary") if it == Atomic("string") else it


def parse_type(found: Any) -> DataType:  # noqa: ANN401
    """Parses a type from Spark's JSON; raises MalformedError if it is not known."""
    if isinstance(found, str):
        return _named(found)
    try:
        match found["type"]:
            case "struct":
                return parse_struct(found)
            case "array":
                return Array(parse_type(found["elementType"]), bool(found["containsNull"]))
            case "map":
                key, value = parse_type(found["keyType"]), parse_type(found["valueType"])
                return Map(key, value, bool(found["valueContainsNull"]))
            case "udt":
                return parse_type(found["sqlType"])
    except (KeyError, TypeError) as error:
        raise MalformedError(f"it has no valid data type: {found!r:.80}") from error
    raise MalformedError(f"its data type {found['type']!r:.80} is not known")


def parse_struct(found: Any) -> Struct:  # noqa: ANN401
    """A struct from Spark's JSON; raises MalformedError."""
    try:
        names = _unique([str(it["name"]) for it in found["fields"]])
        return Struct(
            tuple(
                Field(name, parse_type(it["type"]), bool(it["nullable"]))
                for name, it in zip(names, found["fields"], strict=True)
            )
        )
    except (KeyError, TypeError) as error:
        raise MalformedError(f"it has no valid struct: {found!r:.80}") from error


def _unique(names: list[str]) -> list[str]:
    """Numbers duplicate names, as PySpark does: there may be two columns `count`."""
    numbers = {name: count() for name, times in Counter(names).items() if times > 1}
    return [f"{name}_{next(numbers[name])}" if name in numbers else name for name in names]


def _named(name: str) -> DataType:
    if name in _NAMES:
        return Atomic(name)
    decimal = _DECIMAL.fullmatch(name)
    if decimal:
        return Decimal(int(decimal[1]), int(decimal[2]))
    for pattern, known in (
        (_TEXT, "string"),
        (_DAY_TIME, "day_time"),
        (_YEAR_MONTH, "year_month"),
        (_TIME, "time"),
    ):
        if pattern.fullmatch(name):
            return Atomic(known)
    raise MalformedError(f"its data type {name!r:.80} is not known")
