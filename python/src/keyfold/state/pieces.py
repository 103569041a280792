"""The entries of a version's files for one column family, oldest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keyfold.format.block import Columns, EntryType
from keyfold.rows.places import Flags, Ints, Octets, gather


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries as columns; `file` is the number of the file that each is from, ascending."""

    file: Ints
    hashes: Ints
    types: Octets
    key_lengths: Ints
    value_counts: Ints
    value_lengths: Ints
    keys: Octets
    values: Octets

    @property
    def count(self) -> int:
        """Number of entries."""
        return len(self.hashes)

    def key_starts(self) -> Ints:
        """The start of each key."""
        return starts_of(self.key_lengths)

    def take(self, mask: Flags) -> Entries:
        """Some of the entries."""
        values = np.repeat(mask, self.value_counts)
        lengths = self.value_lengths[values]
        keys, _ = gather(self.keys, self.key_starts()[mask], self.key_lengths[mask])
        content, _ = gather(self.values, starts_of(self.value_lengths)[values], lengths)
        return Entries(
            self.file[mask],
            self.hashes[mask],
            self.types[mask],
            self.key_lengths[mask],
            self.value_counts[mask],
            lengths,
            keys,
            content,
        )


_INTS = np.zeros(0, dtype=np.int64)
_OCTETS = np.zeros(0, dtype=np.uint8)
NOTHING = Entries(_INTS, _INTS, _OCTETS, _INTS, _INTS, _INTS, _OCTETS, _OCTETS)


def starts_of(lengths: Ints) -> Ints:
    """Starts of adjacent items with these lengths."""
    return np.cumsum(lengths) - lengths


def of_block(columns: Columns, file: int) -> Entries:
    """The entries of a block."""
    return Entries(
        np.full(len(columns.hashes), file, dtype=np.int64),
        columns.hashes.astype(np.int64),
        columns.types,
        columns.key_lengths.astype(np.int64),
        columns.value_counts.astype(np.int64),
        columns.value_lengths.astype(np.int64),
        columns.keys,
        columns.values,
    )


def concatenated(pieces: list[Entries]) -> Entries:
    """All entries of the pieces, in order."""
    if len(pieces) == 1:
        return pieces[0]
    return Entries(
        *(
            np.concatenate([getattr(it, name) for it in pieces])
            for name in Entries.__dataclass_fields__
        )
    )


def is_whole(entries: Entries) -> bool:
    """Whether every entry is a row: all are PUTs of one file, and none of them is continued."""
    one = entries.count == 0 or entries.file[0] == entries.file[-1]
    return bool(one and (entries.types == EntryType.PUT).all())
