"""Blocks and their entries (docs/FORMAT.md, section 3.3, rule R4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import google_crc32c

from keyfold.codec import decompress
from keyfold.footer import Block, Family
from keyfold.wire import Cursor, MalformedError


class EntryType(IntEnum):
    """What an entry means for the row of its key."""

    PUT = 1
    APPEND = 2
    REMOVE = 3


@dataclass(frozen=True)
class Entry:
    """What a file says of one key; `values` is empty for REMOVE."""

    family: str
    type: EntryType
    hash: int
    key: bytes
    values: tuple[bytes, ...]


@dataclass(frozen=True)
class Columns:
    """The raw bytes of a block as columns, an element for each entry but where said otherwise.

    `value_lengths` has an element for each value; `keys` and `values` are the bytes of all of them,
    back to back. Lengths are in bytes.
    """

    family: Family
    hashes: tuple[int, ...]
    key_lengths: tuple[int, ...]
    value_counts: tuple[int, ...]
    value_lengths: tuple[int, ...]
    types: tuple[EntryType, ...]
    keys: bytes
    values: bytes

    def entries(self) -> Iterator[Entry]:
        """The entries, in file order."""
        keys = Cursor(self.keys, "the keys")
        values = Cursor(self.values, "the values")
        lengths = iter(self.value_lengths)
        for hashed, size, count, kind in zip(
            self.hashes, self.key_lengths, self.value_counts, self.types, strict=True
        ):
            parts = tuple(values.take(next(lengths)) for _ in range(count))
            yield Entry(self.family.name, kind, hashed, keys.take(size), parts)


def decode_block(
    stored: bytes, block: Block, family: Family, *, only_put: bool, row_checksums: bool
) -> Columns:
    """Checks and decodes the stored bytes of a block; raises MalformedError.

    Args:
        stored: what the file has at the block's place.
        block: the block's row in the footer.
        family: the block's family.
        only_put: whether the file is a snapshot.
        row_checksums: whether entries carry a checksum.
    """
    found = google_crc32c.value(stored)
    if found != block.checksum:
        raise MalformedError(f"it has checksum {found:08x}, expected {block.checksum:08x}")
    cursor = Cursor(decompress(stored, block.raw_length, block.codec), "it")
    count, values = cursor.u32(), cursor.u32()
    if count != block.entries or count == 0:
        raise MalformedError(f"it has {count} entries, the footer says {block.entries}")
    hashes = cursor.column("i", count)
    key_lengths = cursor.column("I", count)
    value_counts = cursor.column("I", count)
    value_lengths = cursor.column("I", values)
    checksums = cursor.column("I", count) if row_checksums else ()
    types = _types(cursor.column("B", count))
    if sum(value_counts) != values:
        raise MalformedError(f"it has {values} values, its entries say {sum(value_counts)}")
    columns = Columns(
        family,
        hashes,
        key_lengths,
        value_counts,
        value_lengths,
        types,
        cursor.take(sum(key_lengths)),
        cursor.take(sum(value_lengths)),
    )
    cursor.end()
    _check_types(columns, only_put=only_put)
    _check_rows(columns, checksums)
    return columns


def _types(codes: tuple[int, ...]) -> tuple[EntryType, ...]:
    try:
        return tuple(EntryType(code) for code in codes)
    except ValueError as error:
        raise MalformedError("it has an entry of unknown type") from error


def _check_types(columns: Columns, *, only_put: bool) -> None:
    multi = columns.family.multi_value
    for kind, count in zip(columns.types, columns.value_counts, strict=True):
        if only_put and kind is not EntryType.PUT:
            raise MalformedError(f"a snapshot has an entry of type {kind.name}")
        if kind is EntryType.APPEND and not multi:
            raise MalformedError(f"APPEND in {columns.family.name!r}, which has one value a key")
        most = 0 if kind is EntryType.REMOVE else count if multi else 1
        if count != most or (count == 0) != (kind is EntryType.REMOVE):
            raise MalformedError(f"{kind.name} with {count} values in {columns.family.name!r}")


def _check_rows(columns: Columns, checksums: tuple[int, ...]) -> None:
    for index, (entry, stored) in enumerate(zip(columns.entries(), checksums, strict=False)):
        found = google_crc32c.value(entry.key + b"".join(entry.values))
        if found != stored:
            raise MalformedError(f"row {index} has checksum {found:08x}, expected {stored:08x}")
