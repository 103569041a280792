"""Reads and checks the tables of blocks and groups (docs/FORMAT.md, sections 4.5 and 4.6)."""

from __future__ import annotations

import numpy as np

from keyfold.format.footer import Block, GroupTable
from keyfold.format.frame import HEADER_BYTES, Frame
from keyfold.wire.codec import MOST_BYTES, codec_of
from keyfold.wire.cursor import Cursor, MalformedError

# Bytes of a block before its entries, and the smallest size of an entry.
_BLOCK_HEAD, _SMALLEST_ENTRY = 8, 13
# The largest number of rows or bytes of a family or group, so that sums over all partitions fit 63
# bits.
MOST_AMOUNT = (1 << 47) - 1


def read_blocks(cursor: Cursor, families: int) -> tuple[Block, ...]:
    """The blocks of a file with this number of families; raises MalformedError."""
    count = cursor.u32()
    types = ("<u2", "<u1", "<u8", "<u4", "<u4", "<u4", "<u4")
    columns = [cursor.column(it, count).tolist() for it in types]
    blocks = tuple(
        Block(family, codec_of(codec), *rest) for family, codec, *rest in zip(*columns, strict=True)
    )
    for index, block in enumerate(blocks):
        if block.family >= families:
            raise MalformedError(f"block {index} is of family {block.family}, which is not listed")
        if block.entries == 0:
            raise MalformedError(f"block {index} has no entries")
        if block.raw_length > MOST_BYTES:
            raise MalformedError(f"block {index} has {block.raw_length} bytes")
        if block.entries > (block.raw_length - _BLOCK_HEAD) // _SMALLEST_ENTRY:
            raise MalformedError(
                f"block {index} of {block.raw_length} bytes cannot have {block.entries} entries"
            )
    if sum(block.entries for block in blocks) > MOST_BYTES:
        raise MalformedError("the blocks have more entries than a file may")
    return blocks


def read_groups(cursor: Cursor, blocks: tuple[Block, ...], key_groups: int) -> GroupTable:
    """The groups, each with its blocks, which depend on the number of entries before it.

    Raises:
        MalformedError: the groups do not have exactly the entries of all blocks, or one is not of
        its blocks' family.
    """
    count = cursor.u32()
    family, number, entries, size = (
        cursor.column(it, count).astype(np.int64) for it in ("<u2", "<u4", "<u4", "<i8")
    )
    for bad in np.flatnonzero((size < 0) | (size > MOST_AMOUNT))[:1]:
        raise MalformedError(f"key group {number[bad]} has {size[bad]} bytes")
    for bad in np.flatnonzero((number >= key_groups) | (entries == 0))[:1]:
        raise MalformedError(f"key group {number[bad]} of {key_groups} with {entries[bad]} entries")
    # Number of the entry after the last one of each block, and of each group.
    ends = np.cumsum([block.entries for block in blocks], dtype=np.int64)
    after = np.cumsum(entries)
    starts = after - entries
    first, last = np.searchsorted(ends, starts, "right"), np.searchsorted(ends, after, "left")
    for bad in np.flatnonzero(last >= len(blocks))[:1]:
        raise MalformedError(f"key group {number[bad]} has more entries than the blocks have left")
    if count:
        families = np.array([block.family for block in blocks], dtype=np.int64)
        changes = np.cumsum(np.diff(families, prepend=families[0]) != 0)
        alien = (families[first] != family) | (changes[first] != changes[last])
        for bad in np.flatnonzero(alien)[:1]:
            raise MalformedError(f"key group {number[bad]} is not of the family of its blocks")
    if (int(after[-1]) if count else 0) != (int(ends[-1]) if blocks else 0):
        raise MalformedError("some entries are in no key group")
    return GroupTable(family, number, first, last, entries, size)


def check_places(blocks: tuple[Block, ...], frame: Frame) -> None:
    """Checks that blocks fill the space between header and footer; raises MalformedError."""
    offset = HEADER_BYTES
    for index, block in enumerate(blocks):
        if block.offset != offset:
            raise MalformedError(f"block {index} begins at {block.offset}, not at {offset}")
        offset += block.stored_length
    if offset != frame.footer_offset:
        raise MalformedError(f"the blocks end at {offset}, the footer is at {frame.footer_offset}")
