"""Looks up one key: its partition, key group and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from keyfold.errors import InvalidArgumentError
from keyfold.format.footer import Footer
from keyfold.layout.layout import Shape
from keyfold.rows.literal import one_value, rank
from keyfold.rows.partition_key import NO_RULE, UnplacedKeyError, hash_of_values, is_unnamed
from keyfold.schema.data_type import DataType, Struct
from keyfold.spark_log.batch import Batch
from keyfold.state.selection import ALL, Selection, of_hash
from keyfold.state.version import Known
from keyfold.table.source import Source


def named_key(source: Source, key: Mapping[str, Any]) -> Mapping[str, Any]:
    """A user's key with Spark's names of its columns.

    Spark does not keep the name of a grouping column that is an expression or has maps: the one
    name that is not known is that of the one such column.

    Raises:
        InvalidArgumentError: it has an unknown column.
    """
    names = source.layout.key.names
    unknown = [name for name in key if name not in names]
    unnamed = [name for name in names if is_unnamed(name)]
    others = set(names) - set(unnamed)
    if len(unknown) == len(unnamed) == 1 and others <= key.keys():
        return {unnamed[0] if name in unknown else name: it for name, it in key.items()}
    if unknown:
        why = (
            " Spark gives such names to expressions and to columns with maps, in the query's order."
            if unnamed
            else ""
        )
        raise InvalidArgumentError(
            f"Invalid key {key!r}: it has no column {', '.join(unknown)}. Its columns are "
            f"{', '.join(names)}.{why}"
        )
    return key


def look_up(
    source: Source,
    batch: Batch,
    key: Mapping[str, Any],
    strays: Callable[[], list[int]],
    known: dict[int, Known] | None = None,
) -> pa.Table:
    """The rows of a key after a batch.

    Args:
        source: the table.
        batch: the batch.
        key: with Spark's names of its columns.
        strays: partitions with strays, asked for if the key's own partition does not have it.
        known: by partition as for `load`, if the key is looked up in other batches too.

    Raises:
        InvalidArgumentError: a value does not fit.
    """
    partitions, wanted = partitions_of(source, batch, key)

    def rows(partition: int) -> pa.Table:
        its = None if known is None else known.setdefault(partition, {})
        return _matching(source, source.table(batch, partition, wanted, its), key)

    tables = list(map(rows, partitions))
    if len(partitions) == 1 and tables[0].num_rows == 0:
        tables += map(rows, strays())
    return pa.concat_tables(tables) if tables else source.layout.arrow.empty_table()


def partitions_of(
    source: Source, batch: Batch, key: Mapping[str, Any]
) -> tuple[list[int], Selection]:
    """Partitions that can have a key, and what to read there: all, if it does not tell where.

    A partition without strays is enough for a key that it has.

    Raises:
        InvalidArgumentError: a value does not fit.
    """
    family = source.family(source.head(batch, 0))
    if family is None:
        return [], ALL
    every = list(range(source.partitions(batch)))
    stored = source.layout.schema.key
    if source.layout.shape in {Shape.MAP, Shape.TIMERS}:
        key = {stored.names[0]: key}
    try:
        with source.fitting(0):
            hashed = hash_of_values(family.partition_key, stored, key)
    except UnplacedKeyError:
        return every, ALL
    wanted = of_hash(hashed)
    own = hashed % len(every)
    if family.partition_key == NO_RULE or _has_strays(source, source.head(batch, own)):
        return every, wanted
    return [own], wanted


def stray_partitions(source: Source, batch: Batch) -> list[int]:
    """Partitions with rows that their hash does not place there; raises KeyfoldError."""
    return [it.identity.partition for it in source.heads(batch) if _has_strays(source, it)]


def _has_strays(source: Source, head: Footer) -> bool:
    family = source.family(head)
    return family is not None and family.strays


def _matching(source: Source, table: pa.Table, key: Mapping[str, Any]) -> pa.Table:
    """The rows of a table whose key, as users see it, has given values."""
    masks = list(_masks(table.column("key"), source.layout.key, key))
    return table.filter(reduce(pc.and_, masks)) if masks else table


def _masks(
    column: pa.ChunkedArray, struct: Struct, given: Mapping[str, Any]
) -> Iterator[pa.ChunkedArray]:
    """For each value that is given, which rows have it."""
    for field in struct.fields:
        if field.name in given:
            values, value = pc.struct_field(column, [field.name]), given[field.name]
            if isinstance(field.type, Struct) and isinstance(value, Mapping):
                yield from _masks(values, field.type, value)
            else:
                yield _equal(values, field.type, value, field.name)


def _equal(values: pa.ChunkedArray, kind: DataType, given: Any, name: str) -> Any:  # noqa: ANN401
    if given is None:
        return values.is_null()
    scalar = one_value(given, kind, name)[0]
    if pa.types.is_floating(scalar.type) and given != given:  # noqa: PLR0124 - NaN
        return pc.is_nan(values).fill_null(False)  # noqa: FBT003
    if pa.types.is_nested(scalar.type):
        expected = rank(scalar)
        return pa.array([rank(value) == expected for value in values], pa.bool_())
    return pc.equal(values, scalar).fill_null(False)  # noqa: FBT003
