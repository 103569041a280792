"""Reader of the files of versions, written from docs/FORMAT.md alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby

import numpy as np
import numpy.typing as npt

from keyfold.errors import FileCorruptError, FormatVersionError, NotAKeyfoldFileError
from keyfold.format.block import Columns, EntryType, decode_block
from keyfold.format.footer import Footer
from keyfold.format.footer_parser import parse_footer
from keyfold.format.footer_tables import check_places
from keyfold.format.frame import (
    HEADER_BYTES,
    SMALLEST_FILE,
    TRAILER_BYTES,
    TRAILER_MAGIC,
    ForeignError,
    UnknownVersionError,
    check_frame,
    footer_length,
    refuse_short,
)
from keyfold.format.names import FileKind, location_of, parse_name
from keyfold.format.source import Source
from keyfold.wire.codec import decompress
from keyfold.wire.cursor import MalformedError

# One read of this size gets the trailer and footer of nearly every file.
_TAIL_BYTES = 64 * 1024
# The largest read of adjacent blocks, in bytes.
_RUN_BYTES = 32 * 1024 * 1024


def read_footer(source: Source) -> Footer:
    """The footer of a file. Needs one or two reads at its end, and reads no block.

    Raises:
        FileCorruptError: it is damaged, or its identity is not that of its name.
        FormatVersionError: it needs a newer reader.
        NotAKeyfoldFileError: Keyfold has not written it.
    """
    with errors_of(source):
        return _footer(source, whole=False)


def stream_columns(source: Source) -> tuple[Footer, Iterator[Columns]]:
    """The footer, and each block as columns; the whole file is read and checked.

    The groups are checked after the last block. Raises the errors of `read_footer`.
    """
    with errors_of(source):
        footer = _footer(source, whole=True)

    def blocks() -> Iterator[Columns]:
        hashes, sizes, appended = [], [], 0
        for columns in read_blocks(source, footer, range(len(footer.blocks))):
            hashes.append(columns.hashes)
            sizes.append(columns.entry_bytes())
            appended += int((columns.types == EntryType.APPEND).sum())
            yield columns
        if hashes:
            with errors_of(source):
                _check_groups(footer, np.concatenate(hashes), np.concatenate(sizes))
                if footer.frame.kind is FileKind.SNAPSHOT and appended != footer.continued:
                    raise MalformedError(
                        f"it continues {appended} entries, its footer says {footer.continued}"
                    )

    return footer, blocks()


def read_blocks(source: Source, footer: Footer, numbers: Iterable[int]) -> Iterator[Columns]:
    """Some blocks of a file as columns, ascending; adjacent blocks are read together.

    Raises as `read_footer` does.
    """
    # Of other snapshots `decode_block` refuses an APPEND.
    continues = footer.frame.kind is FileKind.SNAPSHOT and footer.continued > 0
    begins_group = _begin_groups(footer) if continues else None
    before: tuple[int, Columns] | None = None
    with errors_of(source):
        for run in _runs(footer, sorted(numbers)):
            first, last = footer.blocks[run[0]], footer.blocks[run[-1]]
            length = last.offset + last.stored_length - first.offset
            content = memoryview(read_whole(source, first.offset, length))
            for number in run:
                block = footer.blocks[number]
                at = block.offset - first.offset
                with _part(f"block {number}"):
                    stored = bytes(content[at : at + block.stored_length])
                    columns = decode_block(stored, footer, number)
                    adjacent = before[1] if before and before[0] == number - 1 else None
                    if begins_group is not None and not columns.continued(
                        adjacent, begins_group=bool(begins_group[number])
                    ):
                        raise MalformedError("an APPEND does not continue the entry before it")
                yield columns
                before = (number, columns) if continues else None


@contextmanager
def errors_of(source: Source) -> Iterator[None]:
    """Turns errors about bytes into errors that name the file."""
    location = location_of(source.path)
    where = f"{source.path} ({location})" if location else source.path
    try:
        yield
    except MalformedError as error:
        raise FileCorruptError(
            f"Cannot read {where}: {error}. The file was damaged or moved after it was written; "
            "restore it from a copy, or restart the query from an earlier batch."
        ) from error
    except UnknownVersionError as error:
        raise FormatVersionError(
            f"Cannot read {where}: {error}. Use the Keyfold release that wrote it, or a newer one."
        ) from error
    except ForeignError as error:
        raise NotAKeyfoldFileError(
            f"{where} was not written by Keyfold. Remove it from the checkpoint if it does not "
            "belong there, or read the checkpoint with the provider that wrote it."
        ) from error


def _footer(source: Source, *, whole: bool) -> Footer:
    size = source.size
    if size < SMALLEST_FILE:
        refuse_short(read_whole(source, 0, size))
    start = max(0, size - _TAIL_BYTES)
    tail = read_whole(source, start, size - start)
    header = None
    if start == 0:
        header = tail[:HEADER_BYTES]
    elif whole or not tail.endswith(TRAILER_MAGIC):
        header = read_whole(source, 0, HEADER_BYTES)
    trailer = tail[-TRAILER_BYTES:]
    length = footer_length(trailer, header, size)
    offset = size - TRAILER_BYTES - length
    stored = (
        tail[offset - start :][:length] if offset >= start else read_whole(source, offset, length)
    )
    frame = check_frame(stored, trailer, header)
    with _part("the footer"):
        raw = decompress(stored, frame.footer_raw_length, frame.footer_codec)
    footer = parse_footer(raw, frame)
    _check_name(source.path, footer)
    check_places(footer.blocks, frame)
    return footer


@contextmanager
def _part(name: str) -> Iterator[None]:
    """Adds the part of the file to an error."""
    try:
        yield
    except MalformedError as error:
        raise MalformedError(f"{name}: {error}") from error


def read_whole(source: Source, offset: int, length: int) -> bytes:
    """Bytes of a file; raises MalformedError if it has become shorter."""
    data = source.read(offset, length)
    if len(data) != length:
        raise MalformedError(f"it has become shorter than {offset + length} bytes")
    return data


def _check_name(path: str, footer: Footer) -> None:
    name = footer.name
    if parse_name(path.rsplit("/", 1)[-1]) != name:
        raise MalformedError(
            f"it holds a {name.kind.label} of version {name.version} with id {name.id!r}"
            + ("" if name.base is None else f" and base {name.base}")
            + ", which is not what its name says"
        )


def _runs(footer: Footer, numbers: list[int]) -> Iterator[list[int]]:
    """Runs of adjacent blocks, limited in size."""
    size = 0

    def place(at: tuple[int, int]) -> tuple[int, int]:
        nonlocal size
        size += footer.blocks[at[1]].stored_length
        return at[1] - at[0], size // _RUN_BYTES

    for _, run in groupby(enumerate(numbers), place):
        yield [number for _, number in run]


def _begin_groups(footer: Footer) -> npt.NDArray[np.bool_]:
    """For each block whether a key group begins with it."""
    lengths = np.array([it.entries for it in footer.blocks], dtype=np.int64)
    groups = footer.groups
    return np.isin(np.cumsum(lengths) - lengths, np.cumsum(groups.entries) - groups.entries)


def _check_groups(
    footer: Footer, hashes: npt.NDArray[np.int32], sizes: npt.NDArray[np.int64]
) -> None:
    """Checks hashes and bytes of the groups; the footer was checked for their entries."""
    key_groups = footer.identity.key_groups
    groups = footer.groups
    starts = np.cumsum(groups.entries) - groups.entries
    for bad in np.flatnonzero(
        hashes.astype(np.int64) % key_groups != np.repeat(groups.group, groups.entries)
    )[:1]:
        group = groups.group[np.searchsorted(starts, bad, "right") - 1]
        raise MalformedError(
            f"key group {group} of {key_groups} has an entry with hash {hashes[bad]}"
        )
    found = np.add.reduceat(sizes, starts)
    for bad in np.flatnonzero(found != groups.bytes)[:1]:
        raise MalformedError(
            f"key group {groups.group[bad]} has {found[bad]} bytes, not {groups.bytes[bad]}"
        )
