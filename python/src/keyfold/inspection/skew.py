"""Skew: how unevenly the state is distributed, and the largest keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.errors import InvalidArgumentError
from keyfold.layout.layout import Shape
from keyfold.layout.layouts import layouts
from keyfold.rows.arrow import Ints
from keyfold.spark_log.batch import Batch
from keyfold.spark_log.logs import OperatorMetadata
from keyfold.storage.storage import Storage
from keyfold.table.source import Source
from keyfold.text.arrow_values import to_python
from keyfold.text.html_table import html_of_arrow
from keyfold.text.json_text import json_text

_SHOWN = 20
_NAMED = [("operator", pa.int64()), ("table", pa.string())]
_COUNTED = [("rows", pa.int64()), ("bytes", pa.int64())]
_PARTITIONS = pa.schema([*_NAMED, ("partition", pa.int32()), *_COUNTED])
_GROUPS = pa.schema([*_NAMED, ("partition", pa.int32()), ("key_group", pa.int32()), *_COUNTED])
_KEYS = pa.schema([*_NAMED, ("partition", pa.int32()), ("key", pa.string()), *_COUNTED])


@dataclass(frozen=True)
class Skew:
    """Rows and bytes by partition, by key group and by key, the largest first.

    Rows with the same partitioning key, such as all elements of one key's map, count together as
    one key; `key` is the stored key of one of them, as JSON that `get` and `history` take. A list
    has as many rows as values.
    """

    partitions: pa.Table
    groups: pa.Table
    keys: pa.Table

    def _repr_html_(self) -> str:
        keys, partitions = (html_of_arrow(it, _SHOWN) for it in (self.keys, self.partitions))
        return f"<div><h4>Heaviest keys</h4>{keys}<h4>Partitions</h4>{partitions}</div>"


_Rows: TypeAlias = list[tuple[object, ...]]


def measure(  # noqa: PLR0913, PLR0917 - what is measured of what
    storage: Storage,
    operators: list[OperatorMetadata],
    batch: Batch,
    by: str,
    top: int,
    partition: int | None = None,
) -> Skew:
    """Measures every table, in all partitions or in one.

    Raises InvalidArgumentError if `by` is neither `bytes` nor `rows`, and KeyfoldError.
    """
    if by not in {"bytes", "rows"}:
        raise InvalidArgumentError(f"Invalid measure {by!r}: skew is by bytes or by rows.")
    found: tuple[_Rows, _Rows, _Rows] = ([], [], [])
    for operator in operators:
        for source in _sources(storage, operator):
            every = range(source.partitions(batch)) if partition is None else [partition]
            for rows, more in zip(found, _measured(source, batch, every, by, top), strict=True):
                rows.extend(more)
    schemas = (_PARTITIONS, _GROUPS, _KEYS)
    return Skew(*(_sorted(rows, it, by) for rows, it in zip(found, schemas, strict=True)))


def _sources(storage: Storage, operator: OperatorMetadata) -> Iterator[Source]:
    for layout in layouts(storage, operator):
        if layout.shape is not Shape.JOIN_SIDE and not layout.name.startswith("$"):
            yield Source(storage, operator, layout)


def _measured(
    source: Source, batch: Batch, partitions: Iterable[int], by: str, top: int
) -> tuple[_Rows, _Rows, _Rows]:
    """Of a table: rows for each partition, each key group, and the heaviest keys."""
    name = (source.operator.id, source.layout.name)
    of_partitions: _Rows = []
    of_groups: _Rows = []
    keys: _Rows = []
    for partition in partitions:
        key_groups = source.head(batch, partition).identity.key_groups
        loaded = source.rows(batch, partition)
        if loaded is None:
            continue
        rows, family = loaded
        sizes = rows.bytes()
        values = rows.counts()
        of_partitions.append((*name, partition, int(values.sum()), int(sizes.sum())))
        groups, _, counts, totals = _summed(rows.hashes % key_groups, values, sizes)
        of_groups += [
            (*name, partition, *row)
            for row in zip(groups.tolist(), counts.tolist(), totals.tolist(), strict=True)
        ]
        _, first, counts, totals = _summed(rows.hashes, values, sizes)
        heaviest = np.argsort(totals if by == "bytes" else counts)[::-1][:top]
        with source.fitting(partition):
            shown = to_python(source.layout.key_array(rows.pick(first[heaviest]), family))
        keys += [
            (*name, partition, json_text(key), int(counts[index]), int(totals[index]))
            for key, index in zip(shown, heaviest.tolist(), strict=True)
        ]
    column = -1 if by == "bytes" else -2
    heaviest_keys = sorted(keys, key=lambda row: row[column], reverse=True)[:top]  # type: ignore[arg-type,return-value]
    return of_partitions, of_groups, heaviest_keys


def _summed(of: Ints, values: Ints, sizes: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """What occurs, the first place of each, and its values and sizes together."""
    occurring, first, which = np.unique(of, return_index=True, return_inverse=True)
    # Sums of up to 53 bits are exact as floating-point numbers.
    counts, totals = (np.bincount(which, it).astype(np.int64) for it in (values, sizes))
    return occurring, first, counts, totals


def _sorted(rows: _Rows, schema: pa.Schema, by: str) -> pa.Table:
    named = [dict(zip(schema.names, row, strict=True)) for row in rows]
    return pa.Table.from_pylist(named, schema).sort_by([(by, "descending")])
