"""Blocks and their entries (docs/FORMAT.md, section 3.3, rule R4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import google_crc32c
import numpy as np
import numpy.typing as npt

from keyfold.format.footer import Block, Family
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

    def continued(self, before: Columns | None) -> bool:
        """Whether every APPEND has the key of the entry before it.

        Args:
            before: the block before this one in the file, None if that was not read.
        """
        appended = np.flatnonzero(self.types == EntryType.APPEND).tolist()
        if not appended:
            return True
        keys = self._keys()
        last = None if before is None else before._keys()[-1]  # noqa: SLF001 - one of its own kind
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


def decode_block(
    stored: bytes,
    block: Block,
    family: Family,
    *,
    allowed: frozenset[EntryType],
    row_checksums: bool,
) -> Columns:
    """Checks and decodes the stored bytes of a block; raises MalformedError.

    Args:
        stored: the block's bytes in the file.
        block: the block's row in the footer.
        family: the block's family.
        allowed: what entries of such a file may be.
        row_checksums: whether entries carry a checksum.
    """
    found = google_crc32c.value(stored)
    if found != block.checksum:
        raise MalformedError(f"it has checksum {found:08x}, expected {block.checksum:08x}")
    cursor = Cursor(decompress(stored, block.raw_length, block.codec), "it")
    count, values = cursor.u32(), cursor.u32()
    if count != block.entries or count == 0:
        raise MalformedError(f"it has {count} entries, the footer says {block.entries}")
    hashes = np.frombuffer(cursor.take(4 * count), "<i4")
    key_lengths = _numbers(cursor, count)
    value_counts = _numbers(cursor, count)
    value_lengths = _numbers(cursor, values)
    checksums = _numbers(cursor, count) if row_checksums else None
    types = np.frombuffer(cursor.take(count), np.uint8)
    counted = int(value_counts.sum(dtype=np.uint64))
    if counted != values:
        raise MalformedError(f"it has {values} values, its entries say {counted}")
    columns = Columns(
        family,
        hashes,
        key_lengths,
        value_counts,
        value_lengths,
        types,
        np.frombuffer(cursor.take(int(key_lengths.sum(dtype=np.uint64))), np.uint8),
        np.frombuffer(cursor.take(int(value_lengths.sum(dtype=np.uint64))), np.uint8),
    )
    cursor.end()
    _check_types(columns, allowed)
    if checksums is not None:
        _check_rows(columns, checksums)
    return columns


def _numbers(cursor: Cursor, count: int) -> Numbers:
    return np.frombuffer(cursor.take(4 * count), "<u4")


def _check_types(columns: Columns, allowed: frozenset[EntryType]) -> None:
    types, counts, multi = columns.types, columns.value_counts, columns.family.multi_value
    name = columns.family.name
    if (types == EntryType.PUT).all() and (counts == 1).all():
        return
    for found in set(np.unique(types).tolist()) - allowed:
        raise MalformedError(f"it has an entry of type {found}, which such a file cannot have")
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
        found = google_crc32c.value(keys.take(key_bytes) + values.take(value_bytes))
        if found != stored:
            raise MalformedError(f"row {index} has checksum {found:08x}, expected {stored:08x}")
