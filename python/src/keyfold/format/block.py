"""Blocks and their entries (docs/FORMAT.md, section 3.3, rule R4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from keyfold.format.footer import Family, Footer
from keyfold.format.frame import check_sum
from keyfold.format.names import FileKind
from keyfold.wire.codec import decompress
from keyfold.wire.cursor import Cursor, MalformedError

Numbers: TypeAlias = npt.NDArray[np.uint32]


class EntryType(IntEnum):
    """What an entry does to the row of its key."""

    PUT = 1
    APPEND = 2
    REMOVE = 3


@dataclass(frozen=True, eq=False)
class Columns:
    """The raw bytes of a block as columns, with one element per entry.

    `value_lengths` has an element for each value; `keys` and `values` are the bytes of all of them,
    back to back. Lengths are in bytes.
    """

    family: Family
    hashes: npt.NDArray[np.int32]
    key_lengths: Numbers
    value_counts: Numbers
    value_lengths: Numbers
    types: npt.NDArray[np.uint8]
    keys: npt.NDArray[np.uint8]
    values: npt.NDArray[np.uint8]

    def continued(self, before: Columns | None, *, begins_group: bool) -> bool:
        """Whether every APPEND has the key of the entry before it.

        Args:
            before: the block before this one in the file; None if that was not read, because
                nothing is asked of the key group that ends in this block.
            begins_group: whether the first entry is the first of its key group.
        """
        appended = np.flatnonzero(self.types == EntryType.APPEND).tolist()
        if not appended:
            return True
        if appended[0] == 0 and begins_group:
            return False
        keys = self._keys()
        last = keys[0] if before is None else before._keys()[-1]  # noqa: SLF001 - of its own kind
        return all(keys[at] == (keys[at - 1] if at > 0 else last) for at in appended)

    def _keys(self) -> list[tuple[int, bytes]]:
        """Hash and key of each entry."""
        cursor = Cursor(self.keys.tobytes(), "the keys")
        return [
            (hashed, cursor.take(size))
            for hashed, size in zip(self.hashes.tolist(), self.key_lengths.tolist(), strict=True)
        ]

    def entry_bytes(self) -> npt.NDArray[np.int64]:
        """Bytes of key and values of each entry."""
        ends = np.concatenate(([0], np.cumsum(self.value_lengths, dtype=np.int64)))
        last = np.cumsum(self.value_counts, dtype=np.int64)
        found: npt.NDArray[np.int64] = (
            self.key_lengths + ends[last] - ends[last - self.value_counts]
        )
        return found


def decode_block(stored: bytes, footer: Footer, number: int) -> Columns:
    """Checks and decodes the stored bytes of a block of a file; raises MalformedError."""
    block = footer.blocks[number]
    check_sum(stored, block.checksum, "it")
    cursor = Cursor(decompress(stored, block.raw_length, block.codec), "it")
    count, values = cursor.u32(), cursor.u32()
    if count != block.entries:
        raise MalformedError(f"it has {count} entries, the footer says {block.entries}")
    hashes = cursor.column("<i4", count)
    key_lengths = cursor.column("<u4", count)
    value_counts = cursor.column("<u4", count)
    value_lengths = cursor.column("<u4", values)
    checksums = cursor.column("<u4", count) if footer.frame.row_checksums else None
    types = cursor.column("u1", count)
    counted = int(value_counts.sum(dtype=np.uint64))
    if counted != values:
        raise MalformedError(f"it has {values} values, its entries say {counted}")
    columns = Columns(
        footer.families[block.family],
        hashes,
        key_lengths,
        value_counts,
        value_lengths,
        types,
        cursor.column("u1", int(key_lengths.sum(dtype=np.uint64))),
        cursor.column("u1", int(value_lengths.sum(dtype=np.uint64))),
    )
    cursor.end()
    _check_types(columns, footer)
    if checksums is not None:
        _check_rows(columns, checksums)
    return columns


def _check_types(columns: Columns, footer: Footer) -> None:
    types, counts, multi = columns.types, columns.value_counts, columns.family.multi_value
    name = columns.family.name
    if (types == EntryType.PUT).all() and (counts == 1).all():
        return
    allowed = set(EntryType)
    if footer.frame.kind is FileKind.SNAPSHOT:
        allowed = {EntryType.PUT, EntryType.APPEND} if footer.continued else {EntryType.PUT}
    for alien in set(np.unique(types).tolist()) - allowed:
        raise MalformedError(f"it has an entry of type {alien}, which such a file cannot have")
    if not multi and (types == EntryType.APPEND).any():
        raise MalformedError(f"APPEND in {name!r}, which has one value a key")
    removed = types == EntryType.REMOVE
    if (removed != (counts == 0)).any() or (not multi and (counts > 1).any()):
        raise MalformedError(f"an entry of {name!r} has a number of values that its type cannot")


def _check_rows(columns: Columns, checksums: Numbers) -> None:
    keys = Cursor(columns.keys.tobytes(), "the keys")
    values = Cursor(columns.values.tobytes(), "the values")
    sizes = columns.entry_bytes() - columns.key_lengths
    rows = zip(columns.key_lengths.tolist(), sizes.tolist(), checksums.tolist(), strict=True)
    for index, (key_bytes, value_bytes, stored) in enumerate(rows):
        check_sum(keys.take(key_bytes) + values.take(value_bytes), stored, f"row {index}")
