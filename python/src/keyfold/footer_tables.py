"""Reads and checks the tables of blocks and groups (docs/FORMAT.md, sections 4.5 and 4.6)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from keyfold.codec import codec_of
from keyfold.footer import Block, Group
from keyfold.frame import HEADER_BYTES, Frame
from keyfold.wire import Cursor, MalformedError


def read_blocks(cursor: Cursor, families: int) -> tuple[Block, ...]:
    """The blocks of a file that lists this many families; raises MalformedError."""
    count = cursor.u32()
    columns = [cursor.column(code, count) for code in "HBQIIII"]
    blocks = tuple(
        Block(family, codec_of(codec), *rest) for family, codec, *rest in zip(*columns, strict=True)
    )
    for index, block in enumerate(blocks):
        if block.family >= families:
            raise MalformedError(f"block {index} is of family {block.family}, which is not listed")
        if block.entries == 0:
            raise MalformedError(f"block {index} has no entries")
    return blocks


def read_groups(cursor: Cursor, blocks: tuple[Block, ...], key_groups: int) -> tuple[Group, ...]:
    """The groups, each with the place that follows from the entries before it.

    Raises:
        MalformedError: together they are not the entries of all blocks, or one is not of its
            blocks' family.
    """
    count = cursor.u32()
    columns = [cursor.column(code, count) for code in "HIIQ"]
    # Number of the entry after the last one of each block.
    ends = list(accumulate(block.entries for block in blocks))
    groups = []
    start = 0
    for family, number, entries, size in zip(*columns, strict=True):
        if number >= key_groups or entries == 0:
            raise MalformedError(f"key group {number} of {key_groups} with {entries} entries")
        first, last = bisect_right(ends, start), bisect_left(ends, start + entries)
        if last == len(blocks):
            raise MalformedError(f"key group {number} has more entries than the blocks have left")
        if any(block.family != family for block in blocks[first : last + 1]):
            raise MalformedError(f"key group {number} is not of the family of its blocks")
        index = start - (ends[first] - blocks[first].entries)
        groups.append(Group(family, number, first, index, entries, size))
        start += entries
    if start != (ends[-1] if ends else 0):
        raise MalformedError("some entries are in no key group")
    return tuple(groups)


def check_places(blocks: tuple[Block, ...], frame: Frame) -> None:
    """Checks that blocks fill the space between header and footer; raises MalformedError."""
    offset = HEADER_BYTES
    for index, block in enumerate(blocks):
        if block.offset != offset:
            raise MalformedError(f"block {index} begins at {block.offset}, not at {offset}")
        offset += block.stored_length
    if offset != frame.footer_offset:
        raise MalformedError(f"the blocks end at {offset}, the footer is at {frame.footer_offset}")
