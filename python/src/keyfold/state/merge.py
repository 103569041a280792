"""Merges entries to rows: the newest entry of each key wins."""

from __future__ import annotations

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.format.block import EntryType
from keyfold.rows.arrow import arrow_ints, numbers_of, offsets_of
from keyfold.rows.places import Flags, Ints
from keyfold.state.entries import Entries, Rows

_MIX = np.uint64(0x9E3779B97F4A7C15)
_MOST_BITS = 26


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
