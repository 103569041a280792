"""The columns of a key that determine the partition (docs/FORMAT.md, section 4.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.rows.literal import one_value
from keyfold.rows.row_hash import row_hash
from keyfold.schema.arrow_type import arrow_type
from keyfold.schema.data_type import DataType, Struct, has_map, parse_type
from keyfold.wire.cursor import MalformedError

CONSTANT = "constant"
NO_RULE = "none"
_FIRST = re.compile(r"first:(\d{1,9})")
_COMPUTED = re.compile(r"(\d{1,9})(?::([a-z]+(?:\(\d+,-?\d+\))?))?")
_PATH = re.compile(r"path:(\d{1,9})(?:\.(\d{1,9}))?")


@dataclass(frozen=True)
class Column:
    """A column that is hashed: its place in the key, and the type that it is hashed as.

    That is the type as which it is stored, unless the query computes the column from it.
    """

    path: tuple[int, ...]
    type: DataType

    def hashed(self, array: pa.Array) -> tuple[pa.Array, DataType]:
        """Its values, as they are hashed. A value that no row can have is null.

        Raises:
            MalformedError: it is never stored as what it is stored as here.
        """
        wanted = arrow_type(self.type)
        try:
            return array.cast(wanted), self.type
        except pa.ArrowNotImplementedError as e:
            raise MalformedError(f"a key's column cannot be a {self.type}: {e}") from e
        except pa.ArrowInvalid:
            if len(array) == 1:
                return pa.nulls(1, wanted), self.type
            each = [self.hashed(array[i : i + 1])[0] for i in range(len(array))]
            return pa.concat_arrays(each), self.type


def columns_of(rule: str, key: Struct) -> list[Column]:
    """The columns that a rule names, in order.

    Raises:
        MalformedError: the key has not such columns.
    """
    base, computed, columns = rule.partition(" as ")
    paths = _paths(base, key)
    if not computed:
        return [Column(path, _type(rule, key, path)) for path in paths]
    if base == "all":
        paths = [()]
    hashed = []
    for text in columns.split(";"):
        named = _COMPUTED.fullmatch(text)
        if len(paths) != 1 or not named:
            raise MalformedError(f"its key has no column {rule[:80]!r}, by which it is placed")
        path = (*paths[0], int(named[1]))
        stored = _type(rule, key, path)
        hashed.append(Column(path, parse_type(named[2]) if named[2] else stored))
    return hashed


def _type(rule: str, key: Struct, path: tuple[int, ...]) -> DataType:
    it: DataType = key
    for index in path:
        if not isinstance(it, Struct) or index >= len(it.fields):
            raise MalformedError(f"its key has no column {rule[:80]!r}, by which it is placed")
        it = it.fields[index].type
    return it


def _paths(rule: str, key: Struct) -> list[tuple[int, ...]]:
    first, path = _FIRST.fullmatch(rule), _PATH.fullmatch(rule)
    if rule == CONSTANT:
        return []
    if path:
        return [tuple(int(part) for part in path.groups() if part is not None)]
    # One column too many is enough for the caller's check to fail.
    count = min(int(first[1]), len(key.fields) + 1) if first else len(key.fields)
    return [(index,) for index in range(count)]


def hashes_of(rule: str, key: Struct, columns: list[pa.Array], count: int) -> npt.NDArray[np.int32]:
    """Hash of each of `count` rows, given the columns of their keys.

    Raises:
        MalformedError: the key has not the columns of the rule, or rows are not hashed by them.
    """
    if rule == CONSTANT:
        return np.zeros(count, dtype=np.int32)
    hashed = []
    for column in columns_of(rule, key):
        first, *more = column.path
        array = columns[first]
        for index in more:
            array = array.flatten()[index]
        hashed.append(column.hashed(array))
    return row_hash(hashed, count)


class UnplacedKeyError(Exception):
    """A key does not tell where its rows are."""


def _lacks(value: Any, it: DataType) -> bool:  # noqa: ANN401
    """Whether a struct is not given as a whole."""
    if not isinstance(it, Struct) or not isinstance(value, Mapping):
        return False
    return any(
        field.name not in value or _lacks(value[field.name], field.type) for field in it.fields
    )


def is_unnamed(column: str) -> bool:
    """Whether Spark has named a column: of an expression by which a query groups, or with maps."""
    return is_sorted(column) or column.startswith("_groupingexpression")


def is_sorted(column: str) -> bool:
    """Whether Spark has made a column, by sorting the maps in a grouping column of the query.

    Other operators keep maps in the order in which they came.
    """
    return column.startswith("_groupingmapsort")


def hash_of_values(rule: str, key: Struct, given: Mapping[str, Any]) -> int:
    """Hash of the row whose key has these values, by name.

    Raises:
        UnplacedKeyError: a column that the rule needs is not given, or is a map in any order.
        InvalidArgumentError: a value does not fit.
        MalformedError: the key has not such columns, or rows are not hashed by them.
    """
    if rule == CONSTANT:
        return 0
    found: list[tuple[pa.Array, DataType]] = []
    for column in columns_of(rule, key):
        it: DataType = key
        value: Any = given
        names: list[str] = []
        for index in column.path:
            assert isinstance(it, Struct)  # noqa: S101 - a path goes through structs
            field = it.fields[index]
            names.append(field.name)
            if not isinstance(value, Mapping) or field.name not in value:
                raise UnplacedKeyError
            value, it = value[field.name], field.type
        if _lacks(value, it) or (has_map(it) and not is_sorted(names[0])):
            raise UnplacedKeyError
        found.append(column.hashed(one_value(value, it, ".".join(names))))
    return int(row_hash(found, 1)[0])
