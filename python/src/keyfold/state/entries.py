"""Rows of one column family, and the entries of a version's files that make them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.format.block import Columns
from keyfold.rows.arrow import arrow_ints, offsets_of
from keyfold.rows.places import Flags, Ints, Octets, ends_of


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
