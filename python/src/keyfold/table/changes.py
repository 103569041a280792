"""Differences between the states after two batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from keyfold.format.footer import Family, Footer
from keyfold.format.names import FileKind, FileName, Version
from keyfold.format.reader import read_blocks
from keyfold.layout.layout import Shape
from keyfold.rows.arrow import Flags, Ints, arrow_ints, ends_of
from keyfold.spark_log.batch import Batch
from keyfold.state.entries import NO_ROWS, Rows, joined, repeated
from keyfold.state.selection import ALL, Selection, Sieve
from keyfold.table.source import Source


class Change(Enum):
    """The kind of a difference."""

    INSERTED = "inserted"
    UPDATED = "updated"
    DELETED = "deleted"


def changed(source: Source, before: Batch, after: Batch, partition: int) -> Selection:
    """Selects rows that the deltas between two batches change; all rows if not known."""
    files = source.files(after, partition)
    head: Footer | None = source.head(after, partition)
    oldest = source.written(before, partition)
    at = source.written(after, partition)
    own = Selection().of_family(source.layout.family)
    hashes: list[npt.NDArray[np.int32]] = []
    while head is not None and at.number > oldest.number:
        if head.frame.kind is not FileKind.DELTA or source.layout.family in head.dropped:
            return ALL
        with files.open(f"{files.folder}/{head.name}") as file:
            hashes += [it.hashes for it in read_blocks(file, head, own.blocks(head, ()))]
        if not head.lineage:
            return ALL
        at = Version(head.lineage[0].version, head.lineage[0].id)
        name = FileName(*at, FileKind.DELTA)
        head = files.footer(name) if at.number > oldest.number and name in files.sizes else None
    if at != oldest:
        return ALL
    every = np.concatenate(hashes) if hashes else np.zeros(0, dtype=np.int32)
    return Selection(sieve=Sieve(every))


def compared(before: Rows, after: Rows) -> dict[Change, tuple[Ints, Ints]]:
    """Row numbers of each kind of change, before and after."""
    order, is_first = repeated(joined([before, after]))
    second = np.flatnonzero(~is_first)
    old, new = order[second - 1], order[second] - before.count
    updated = ~_same_values(before.pick(old), after.pick(new))
    nothing = np.zeros(0, dtype=np.int64)
    return {
        Change.INSERTED: (nothing, np.delete(np.arange(after.count), new)),
        Change.UPDATED: (old[updated], new[updated]),
        Change.DELETED: (np.delete(np.arange(before.count), old), nothing),
    }


def _same_values(before: Rows, after: Rows) -> Flags:
    """Whether each row has the same values as the other row at its place."""
    counts = before.counts()
    same: Flags = counts == after.counts()
    index = arrow_ints(np.flatnonzero(same))
    old, new = before.values.take(index).flatten(), after.values.take(index).flatten()
    starts = ends_of(counts[same])[:-1]
    same[same] = np.logical_and.reduceat(np.asarray(pc.equal(old, new)), starts)
    return same


def a_row_a_key(source: Source, batch: Batch) -> Source:
    """The same with all values of a key in one row."""
    family = source.family(source.head(batch, 0))
    layout = source.layout
    flat = layout.shape is not Shape.LIST
    listed = flat and family is not None and family.multi_value
    return replace(source, layout=replace(layout, flat=flat, listed=listed))


def differences(source: Source, before: Batch, after: Batch) -> Iterator[pa.Table]:
    """The changes, as several tables."""
    old, new = source.partitions(before), source.partitions(after)
    if old == new:
        for tables in source.side_by_side(after, lambda it: _in_place(source, before, after, it)):
            yield from tables
        return
    # A rescale has moved rows, so each may be in any partition.
    for partition in range(new):
        here = source.rows(after, partition)
        there = [source.rows(before, it) for it in range(old)]
        loaded = [it for it in there if it is not None]
        moved = None
        if loaded:
            every = joined([rows for rows, _ in loaded])
            moved = every.pick(np.flatnonzero(every.hashes % new == partition)), loaded[0][1]
        yield from _of(source, moved, here, partition)


def _in_place(source: Source, before: Batch, after: Batch, partition: int) -> list[pa.Table]:
    """Changes of a partition whose rows have not moved to others."""
    if before.number < after.number:
        source.share_files([before, after], partition)
    wanted = changed(source, before, after, partition)
    old, new = source.rows(before, partition, wanted), source.rows(after, partition, wanted)
    return list(_of(source, old, new, partition))


_Loaded: TypeAlias = tuple[Rows, Family] | None


def _of(source: Source, before: _Loaded, after: _Loaded, partition: int) -> Iterator[pa.Table]:
    """Changes of a partition, each with the row before and after."""
    changes = compared(before[0] if before else NO_ROWS, after[0] if after else NO_ROWS)
    for change, (old, new) in changes.items():
        count = max(len(old), len(new))
        if count:
            yield _sided(
                change,
                _shown(source, before, old, partition),
                _shown(source, after, new, partition),
                count,
            )


def _shown(source: Source, loaded: _Loaded, picked: Ints, partition: int) -> pa.Table:
    if loaded is None or not len(picked):
        return source.layout.arrow.empty_table()
    rows, family = loaded
    return source.shown(rows.pick(picked), family, partition)


def _sided(change: Change, old: pa.Table, new: pa.Table, count: int) -> pa.Table:
    """Keys, and the other columns before and after."""
    whole = new if new.num_rows else old
    columns = {"change": pa.array([change.value] * count, pa.string())}
    for name in whole.schema.names:
        if name in _KEYS:
            columns[name] = whole.column(name)
            continue
        for side, table in (("before", old), ("after", new)):
            held = table.num_rows > 0
            nulls = pa.nulls(count, table.schema.field(name).type)
            columns[f"{side}_{name}"] = table.column(name) if held else nulls
    return pa.table(columns)


_KEYS = {"key", "user_map_key", "partition_id"}


def diff_schema(shown: pa.Schema) -> pa.Schema:
    """The columns of differences between tables of these columns."""
    return _sided(Change.UPDATED, shown.empty_table(), shown.empty_table(), 0).schema
