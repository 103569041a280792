"""Rows of one column family, and the entries that make them: the newest of each key wins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.format.block import Columns, EntryType
from keyfold.rows.arrow import Flags, Ints, Octets, arrow_ints, ends_of, numbers_of, offsets_of

_MIX = np.uint64(0x9E3779B97F4A7C15)
_MOST_BITS = 26


@dataclass(frozen=True, eq=False)
class Rows:
    """Keys, and the values of each: `values` is a large list, of large binaries as `keys` is."""

    hashes: Ints
    keys: pa.Array
    values: pa.Array

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.hashes)

    def counts(self) -> Ints:
        """Number of values of each row."""
        return np.diff(offsets_of(self.values))

    def bytes(self) -> Ints:
        """Bytes of key and values of each row."""
        of_values = offsets_of(self.values.values)[offsets_of(self.values)]
        return np.diff(offsets_of(self.keys)) + np.diff(of_values)

    def pick(self, index: Ints) -> Rows:
        """Some rows, in a given order."""
        numbers = arrow_ints(index)
        return Rows(self.hashes[index], self.keys.take(numbers), self.values.take(numbers))


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries, oldest first: a row each, what it does, and the paths of the files they are from."""

    rows: Rows
    types: Octets
    files: frozenset[str]

    def take(self, mask: Flags) -> Entries:
        """Some of the entries."""
        index = np.flatnonzero(mask)
        return Entries(self.rows.pick(index), self.types[index], self.files)


def rows_of_block(columns: Columns) -> Rows:
    """The key and the values of each entry of a block, without a copy of their bytes."""
    values = _binaries(columns.value_lengths, columns.values)
    counts = arrow_ints(ends_of(columns.value_counts))
    return Rows(
        columns.hashes.astype(np.int64),
        _binaries(columns.key_lengths, columns.keys),
        pa.LargeListArray.from_arrays(counts, values),
    )


def of_block(columns: Columns, path: str) -> Entries:
    """The entries of a block of a file."""
    return Entries(rows_of_block(columns), columns.types, frozenset({path}))


def joined(parts: list[Rows]) -> Rows:
    """All rows of the parts, in order."""
    if len(parts) == 1:
        return parts[0]
    return Rows(
        np.concatenate([it.hashes for it in parts]),
        pa.concat_arrays([it.keys for it in parts]),
        pa.concat_arrays([it.values for it in parts]),
    )


def concatenated(parts: list[Entries]) -> Entries:
    """All entries of the parts, in order."""
    if not parts:
        return _NOTHING
    types = np.concatenate([it.types for it in parts])
    files = frozenset[str]().union(*(it.files for it in parts))
    return Entries(joined([it.rows for it in parts]), types, files)


def _binaries(lengths: np.ndarray[tuple[int], np.dtype[np.uint32]], content: Octets) -> pa.Array:
    buffers = [None, pa.py_buffer(ends_of(lengths)), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.large_binary(), len(lengths), buffers)


NO_ROWS = Rows(
    np.zeros(0, dtype=np.int64),
    pa.nulls(0, pa.large_binary()),
    pa.nulls(0, pa.large_list(pa.large_binary())),
)
_NOTHING = Entries(NO_ROWS, np.zeros(0, dtype=np.uint8), frozenset())


def rows_of(entries: Entries) -> Rows:
    """The rows that result from entries, which are in the order in which they were written."""
    if len(entries.files) <= 1 and (entries.types == EntryType.PUT).all():
        return entries.rows
    live, is_first = _live(entries)
    rows = entries.rows.pick(live)
    if is_first.all():
        return rows
    first = np.flatnonzero(is_first)
    offsets = offsets_of(rows.values)[np.append(first, rows.count)]
    values = pa.LargeListArray.from_arrays(arrow_ints(offsets), rows.values.values)
    return Rows(rows.hashes[first], rows.keys.take(arrow_ints(first)), values)


def repeated(rows: Rows) -> tuple[Ints, Flags]:
    """Rows that may share their key with others, ordered by key and then by row.

    Returns:
        Their indices, and whether each is the first of its key. All other rows are the only ones of
        their keys.
    """
    candidates = np.flatnonzero(_shared(rows.hashes))
    keys = numbers_of(rows.keys.take(arrow_ints(candidates)).dictionary_encode().indices)
    order = np.argsort(keys, kind="stable")
    return candidates[order], np.diff(keys[order], prepend=-1) != 0


def _live(entries: Entries) -> tuple[Ints, Flags]:
    """Entries with the values of each row, oldest first, and whether each is its row's first."""
    order, first = repeated(entries.rows)
    types = entries.types[order]
    run = np.cumsum(first) - 1
    position = np.arange(len(order))
    # The last entry of a run that is not an APPEND replaces the row.
    anew = np.where(types != EntryType.APPEND, position, -1)
    begin = np.full(int(run[-1]) + 1 if len(run) else 0, -1, dtype=np.int64)
    np.maximum.at(begin, run, anew)
    live = (position >= begin[run]) & (types != EntryType.REMOVE)
    single = np.ones(entries.rows.count, dtype=np.bool_)
    single[order] = False
    single &= entries.types != EntryType.REMOVE
    alone, together = np.flatnonzero(single), order[live]
    runs = run[live]
    firsts = np.ones(len(alone) + len(together), dtype=np.bool_)
    firsts[len(alone) + 1 :] = runs[1:] != runs[:-1]
    return np.concatenate((alone, together)), firsts


def _shared(hashes: Ints) -> Flags:
    """Which ones share their slot in a hash table with others; much faster than to sort them."""
    count = len(hashes)
    bits = min(_MOST_BITS, max(4, count.bit_length() + 3))
    slots = (hashes.astype(np.uint64) * _MIX >> np.uint64(64 - bits)).astype(np.int64)
    numbers = np.arange(count, dtype=np.int32)
    table = np.zeros(1 << bits, dtype=np.int32)
    table[slots] = numbers
    lost = table[slots] != numbers
    hit = np.zeros(1 << bits, dtype=np.bool_)
    hit[slots[lost]] = True
    shared: Flags = hit[slots]
    return shared
