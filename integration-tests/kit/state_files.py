"""Reads whole state files."""

from __future__ import annotations

from keyfold.format.block import Columns, Entry
from keyfold.format.footer import Footer
from keyfold.format.reader import stream_columns
from keyfold.format.source import Source


def read_columns(source: Source) -> tuple[Footer, tuple[Columns, ...]]:
    """The footer, and every block as columns. Raises as `stream_columns` does."""
    footer, blocks = stream_columns(source)
    return footer, tuple(blocks)


def read_entries(source: Source) -> list[Entry]:
    """Every entry of a file, in file order. Raises as `stream_columns` does."""
    _, blocks = read_columns(source)
    return [entry for block in blocks for entry in block.entries()]
