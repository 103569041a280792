"""Looks up one key: its partition, key group and rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from keyfold.errors import InvalidArgumentError
from keyfold.format.footer import Footer
from keyfold.layout.layout import Shape
from keyfold.rows.arrow import arrow_flags
from keyfold.rows.literal import one_value
from keyfold.rows.partition_key import NO_RULE, UnplacedKeyError, hash_of_values
from keyfold.rows.places import Flags
from keyfold.rows.row_hash import NoHashError
from keyfold.schema.arrow_type import arrow_type
from keyfold.schema.data_type import DataType, Struct
from keyfold.spark_log.batch import Batch
from keyfold.state.selection import Selection
from keyfold.table.source import Source


def stored_key(source: Source, key: Mapping[str, Any]) -> Mapping[str, Any]:
    """The stored key of a user's key; raises InvalidArgumentError."""
    shown = source.layout.key
    unknown = [name for name in key if name not in shown.names]
    if unknown or not isinstance(key, Mapping):
        raise InvalidArgumentError(
            f"Invalid key {key!r}: it has no column {', '.join(unknown)}. Its columns are "
            f"{', '.join(shown.names)}."
        )
    if source.layout.shape in {Shape.MAP, Shape.TIMERS}:
        return {source.layout.schema.key.names[0]: key}
    return key


def partitions_of(
    source: Source, batch: Batch, key: Mapping[str, Any]
) -> tuple[list[int], Selection]:
    """Partitions that can have a stored key, and what to read there.

    A partition without strays is enough for a key that it has: see `stray_partitions` if not.

    Raises:
        UnplacedKeyError: the key does not tell where its rows are.
        InvalidArgumentError: a value does not fit.
    """
    head = source.head(batch, 0)
    family = source.family(head)
    if family is None:
        return [], Selection()
    try:
        with source.fitting(0):
            hashed = hash_of_values(family.partition_key, source.layout.schema.key, key)
    except NoHashError as error:
        raise UnplacedKeyError(f"Cannot look up a key: {error}. Use scan(where=...).") from error
    count = source.partitions(batch)
    wanted = Selection(groups=_group(head, hashed), hash=hashed)
    own = hashed % count
    if family.partition_key == NO_RULE or _has_strays(source, source.head(batch, own)):
        return list(range(count)), wanted
    return [own], wanted


def stray_partitions(source: Source, batch: Batch) -> list[int]:
    """Partitions with rows that their hash does not place there; raises KeyfoldError."""
    return [it.identity.partition for it in source.heads(batch) if _has_strays(source, it)]


def _has_strays(source: Source, head: Footer) -> bool:
    family = source.family(head)
    return family is not None and family.strays


def _group(head: Footer, hashed: int) -> frozenset[int]:
    return frozenset({hashed % head.identity.key_groups})


def matching(source: Source, table: pa.Table, key: Mapping[str, Any]) -> pa.Table:
    """The rows of a table whose key, as users see it, has given values."""
    mask = _equal(table.column("key"), source.layout.key, key)
    return table.filter(arrow_flags(mask))


def _equal(column: pa.ChunkedArray, it: Struct, given: Mapping[str, Any]) -> Flags:
    found = np.ones(len(column), dtype=np.bool_)
    for field in it.fields:
        if field.name in given:
            values = pc.struct_field(column, [field.name])
            found &= _same(values, field.type, given[field.name], field.name)
    return found


def _same(values: pa.ChunkedArray, it: DataType, given: Any, name: str) -> Flags:  # noqa: ANN401
    if isinstance(it, Struct) and isinstance(given, Mapping):
        return _equal(values, it, given)
    if given is None:
        return np.asarray(values.is_null())
    scalar = one_value(given, it, name)[0]
    if pa.types.is_floating(arrow_type(it)) and given != given:  # noqa: PLR0124 - NaN
        return np.asarray(pc.is_nan(values).fill_null(False))  # noqa: FBT003
    if pa.types.is_nested(arrow_type(it)):
        expected = scalar.as_py()
        return np.array([value == expected for value in values.to_pylist()], dtype=np.bool_)
    return np.asarray(pc.equal(values, scalar).fill_null(False))  # noqa: FBT003
