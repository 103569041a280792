"""Merges entries to rows: the newest entry of each key wins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keyfold.format.block import EntryType
from keyfold.rows.places import Ints, Octets, Places
from keyfold.state.key_order import repeated
from keyfold.state.pieces import Entries, is_whole, starts_of


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a family in a partition.

    `values` has a place for each value, row after row; `counts` says how many each row has, None
    when each has one.
    """

    hashes: Ints
    key_data: Octets
    keys: Places
    key_sizes: Ints
    value_data: Octets
    values: Places
    value_sizes: Ints
    counts: Ints | None

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.hashes)

    def pick(self, index: Ints) -> Rows:
        """Some rows, in a given order."""
        values, counts = index, None
        if self.counts is not None:
            counts = self.counts[index]
            values = _numbers(starts_of(self.counts)[index], counts)
        return Rows(
            self.hashes[index],
            self.key_data,
            self.keys.pick(index),
            self.key_sizes[index],
            self.value_data,
            self.values.pick(values),
            self.value_sizes[values],
            counts,
        )

    def bytes(self) -> Ints:
        """Bytes of key and values of each row."""
        if self.counts is None:
            return self.key_sizes + self.value_sizes
        ends = np.concatenate(([0], np.cumsum(self.value_sizes)))
        last = np.cumsum(self.counts)
        found: Ints = self.key_sizes + ends[last] - ends[last - self.counts]
        return found


def rows_of(entries: Entries, *, multi_value: bool) -> Rows:
    """The rows that result from entries, which are in the order in which they were written."""
    if is_whole(entries):
        keep, counts = None, entries.value_counts if multi_value else None
        heads: Ints | slice = slice(None)
    else:
        keep, firsts = _live(entries)
        heads = keep[firsts]
        counts = None
        if multi_value:
            counts = np.add.reduceat(entries.value_counts[keep], np.flatnonzero(firsts))
            counts = counts if len(keep) else np.zeros(0, dtype=np.int64)
    value_starts, value_sizes = starts_of(entries.value_lengths), entries.value_lengths
    if keep is None:
        values = _even(value_starts, value_sizes)
    else:
        places = _value_places(entries, keep)
        value_sizes = value_sizes[places]
        values = Places.of(value_starts[places])
    key_sizes = entries.key_lengths[heads]
    starts = entries.key_starts()
    keys = _even(starts, key_sizes) if keep is None else Places.of(starts[heads])
    return Rows(
        entries.hashes[heads],
        entries.keys,
        keys,
        key_sizes,
        entries.values,
        values,
        value_sizes,
        counts,
    )


def _live(entries: Entries) -> tuple[Ints, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Entries with the values of each row, oldest first, and whether each is its row's first."""
    order, first = repeated(entries)
    types = entries.types[order]
    run = np.cumsum(first) - 1
    place = np.arange(len(order))
    # The last entry of a run that is not an APPEND replaces the row.
    anew = np.where(types != EntryType.APPEND, place, -1)
    begin = np.full(int(run[-1]) + 1 if len(run) else 0, -1, dtype=np.int64)
    np.maximum.at(begin, run, anew)
    live = (place >= begin[run]) & (types != EntryType.REMOVE)
    single = np.ones(entries.count, dtype=np.bool_)
    single[order] = False
    single &= entries.types != EntryType.REMOVE
    alone, together = np.flatnonzero(single), order[live]
    runs = run[live]
    firsts = np.ones(len(alone) + len(together), dtype=np.bool_)
    firsts[len(alone) + 1 :] = runs[1:] != runs[:-1]
    return np.concatenate((alone, together)), firsts


def _value_places(entries: Entries, keep: Ints) -> Ints:
    """Indices of the values of entries, in the order of the entries."""
    return _numbers(starts_of(entries.value_counts)[keep], entries.value_counts[keep])


def _numbers(starts: Ints, counts: Ints) -> Ints:
    """For each start a run of consecutive numbers, one run after the other."""
    found: Ints = np.repeat(starts - starts_of(counts), counts) + np.arange(int(counts.sum()))
    return found


def _even(starts: Ints, sizes: Ints) -> Places:
    """Places of adjacent items, without offsets if all have the same size."""
    if len(sizes) and bool((sizes == sizes[0]).all()):
        return Places(None, len(sizes), 0, int(sizes[0]))
    return Places.of(starts)
