"""Differences between the states after two batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.format.block import EntryType
from keyfold.format.footer import Family, Footer
from keyfold.format.names import FileKind, FileName, Version
from keyfold.format.reader import read_blocks
from keyfold.layout.layout import Shape
from keyfold.rows.places import Flags, Ints, gather
from keyfold.spark_log.batch import Batch
from keyfold.state.key_order import equal_slices, repeated
from keyfold.state.merge import Rows, rows_of
from keyfold.state.pieces import NOTHING, Entries, concatenated, starts_of
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
    groups: set[int] = set()
    hashes: list[npt.NDArray[np.int32]] = []
    while head is not None and at.number > oldest.number:
        if head.frame.kind is not FileKind.DELTA or source.layout.family in head.dropped:
            return ALL
        numbers = [it.number for it in head.families if it.name == source.layout.family]
        own_groups = head.groups.group[np.isin(head.groups.family, numbers)]
        groups.update(own_groups.tolist())
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
    return Selection(groups=frozenset(groups), sieve=Sieve(every))


def entries_of(rows: Rows, file: int) -> Entries:
    """Rows as entries of one file."""
    keys, _ = gather(rows.key_data, rows.keys.offsets(), rows.key_sizes)
    values, _ = gather(rows.value_data, rows.values.offsets(), rows.value_sizes)
    counts = np.ones(rows.count, dtype=np.int64) if rows.counts is None else rows.counts
    return Entries(
        np.full(rows.count, file, dtype=np.int64),
        rows.hashes,
        np.full(rows.count, EntryType.PUT, dtype=np.uint8),
        rows.key_sizes,
        counts,
        rows.value_sizes,
        keys,
        values,
    )


def compared(before: Rows | None, after: Rows | None) -> dict[Change, tuple[Ints, Ints]]:
    """Row numbers of each kind of change, before and after."""
    old = NOTHING if before is None else entries_of(before, 0)
    new = NOTHING if after is None else entries_of(after, 1)
    both = concatenated([old, new])
    order, first = repeated(both)
    paired = ~first
    later = order[paired]
    earlier = order[np.flatnonzero(paired) - 1]
    alone = np.ones(both.count, dtype=np.bool_)
    alone[later] = alone[earlier] = False
    lone = np.flatnonzero(alone)
    updated = ~_same_values(both, earlier, later)
    nothing = np.zeros(0, dtype=np.int64)
    return {
        Change.INSERTED: (nothing, lone[lone >= old.count] - old.count),
        Change.UPDATED: (earlier[updated], later[updated] - old.count),
        Change.DELETED: (lone[lone < old.count], nothing),
    }


def _same_values(entries: Entries, earlier: Ints, later: Ints) -> Flags:
    """Whether rows have the same values as other rows."""
    starts = starts_of(entries.value_lengths)
    first = starts_of(entries.value_counts)
    ends = np.concatenate(([0], np.cumsum(entries.value_lengths)))
    total = ends[first + entries.value_counts] - ends[first]
    begin = np.concatenate((starts, [0]))[first] if entries.count else starts
    same: Flags = entries.value_counts[earlier] == entries.value_counts[later]
    same &= equal_slices(entries.values, begin[earlier], total[earlier], begin[later], total[later])
    several = np.flatnonzero(same & (entries.value_counts[earlier] > 1))
    for row in several.tolist():
        one, other = int(earlier[row]), int(later[row])
        count = int(entries.value_counts[one])
        lengths = entries.value_lengths
        same[row] = np.array_equal(
            lengths[first[one] : first[one] + count], lengths[first[other] : first[other] + count]
        )
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
        others = [source.rows(before, it) for it in range(old)]
        pieces = [entries_of(it[0], 0) for it in others if it is not None]
        family = next((it[1] for it in others if it is not None), None)
        whole = concatenated(pieces) if pieces else NOTHING
        mine = whole.take(whole.hashes % new == partition)
        moved = None if family is None else (rows_of(mine, multi_value=family.multi_value), family)
        yield from _of(source, moved, here, partition)


def _in_place(source: Source, before: Batch, after: Batch, partition: int) -> list[pa.Table]:
    """Changes of a partition whose rows have not moved to others."""
    if before.number < after.number:
        source.share_files([before, after], partition)
    wanted = changed(source, before, after, partition)
    old, new = source.rows(before, partition, wanted), source.rows(after, partition, wanted)
    return list(_of(source, old, new, partition))


_Found: TypeAlias = tuple[Rows, Family] | None


def _of(source: Source, before: _Found, after: _Found, partition: int) -> Iterator[pa.Table]:
    """Changes of a partition, each with the row before and after."""
    found = compared(before[0] if before else None, after[0] if after else None)
    for change, (old, new) in found.items():
        count = max(len(old), len(new))
        if count:
            yield _sided(
                change,
                _shown(source, before, old, partition),
                _shown(source, after, new, partition),
                count,
            )


def _shown(source: Source, found: _Found, picked: Ints, partition: int) -> pa.Table:
    if found is None or not len(picked):
        return source.layout.arrow.empty_table()
    rows, family = found
    return source.shown(rows.pick(picked), family, partition)


def _sided(change: Change, old: pa.Table, new: pa.Table, count: int) -> pa.Table:
    """Keys, and the other columns before and after."""
    whole = new if new.num_rows else old
    columns = {"change": pa.array([change.value] * count)}
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
