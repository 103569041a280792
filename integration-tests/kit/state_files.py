"""Reads whole state files, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from keyfold.format.block import Columns, EntryType
from keyfold.format.footer import Footer
from keyfold.format.reader import stream_columns
from keyfold.format.source import Source
from keyfold.wire.cursor import Cursor


@dataclass(frozen=True)
class Entry:
    """A file's entry for one key; `values` is empty for REMOVE."""

    family: str
    type: EntryType
    hash: int
    key: bytes
    values: tuple[bytes, ...]


def read_columns(source: Source) -> tuple[Footer, tuple[Columns, ...]]:
    """The footer, and every block as columns. Raises as `stream_columns` does."""
    footer, blocks = stream_columns(source)
    return footer, tuple(blocks)


def read_entries(source: Source) -> list[Entry]:
    """Every entry of a file, in file order. Raises as `stream_columns` does."""
    _, blocks = read_columns(source)
    return [entry for block in blocks for entry in entries(block)]


def entries(block: Columns) -> Iterator[Entry]:
    """The entries of a block, in file order."""
    keys = Cursor(block.keys.tobytes(), "the keys")
    values = Cursor(block.values.tobytes(), "the values")
    lengths = iter(block.value_lengths.tolist())
    columns = (block.hashes, block.key_lengths, block.value_counts, block.types)
    for hashed, size, count, kind in zip(*(it.tolist() for it in columns), strict=True):
        parts = tuple(values.take(next(lengths)) for _ in range(count))
        yield Entry(block.family.name, EntryType(kind), hashed, keys.take(size), parts)


def groups(footer: Footer) -> list[dict[str, int]]:
    """The groups of a file, in the order of their entries; `index` is that of the first entry."""
    table = footer.groups
    columns = {it: getattr(table, it) for it in ("family", "group", "block", "entries", "bytes")}
    lengths = np.array([it.entries for it in footer.blocks], dtype=np.int64)
    before = np.cumsum(lengths) - lengths
    columns["index"] = np.cumsum(table.entries) - table.entries - before[table.block]
    rows = zip(*(it.tolist() for it in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]
