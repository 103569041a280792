"""One key in all retained batches."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.errors import BatchNotRetainedError, FileMissingError, KeyfoldError
from keyfold.format.footer import Footer
from keyfold.format.names import FileKind, FileName, Version
from keyfold.format.reader import read_blocks, read_footer
from keyfold.spark_log.batch import Batch, find_batch
from keyfold.spark_log.migrated import own_batches
from keyfold.state.merge import rows_of
from keyfold.state.pieces import NOTHING, Entries, concatenated, of_block
from keyfold.state.selection import Selection
from keyfold.table.lookup import matching, named_key, partitions_of, stray_partitions
from keyfold.table.source import Source


def history(source: Source, key: Mapping[str, Any]) -> pa.Table:
    """All states of a key, with the batch that made each; nulls if the key is absent.

    Raises as `StateTable.get` does.
    """
    key = named_key(source, key)
    found: list[pa.Table] = []
    before: pa.Table | None = None
    strays: list[int] | None = None
    state = _State(source)
    numbers = own_batches(source.storage)
    _fetch(source, numbers, key)
    for number in numbers:
        try:
            batch = find_batch(source.storage, number)
            partitions, wanted = partitions_of(source, batch, key)
            tables = [matching(source, state.at(batch, it, wanted), key) for it in partitions]
            if len(partitions) == 1 and tables[0].num_rows == 0:
                if strays is None:
                    # A family that has strays keeps the mark: the newest batch knows of all.
                    strays = stray_partitions(source, find_batch(source.storage, numbers[-1]))
                tables += [matching(source, state.at(batch, it, wanted), key) for it in strays]
        except (BatchNotRetainedError, FileMissingError):
            # Retention has deleted these files; those of later batches exist.
            state = _State(source)
            continue
        now = pa.concat_tables(tables) if tables else _empty(source)
        if before is None or not now.equals(before):
            change = _change(before, now)
            if change:
                found.append(_dated(now, number, change, source))
        before = now
    return pa.concat_tables(found) if found else _dated(_empty(source), 0, "", source).slice(0, 0)


def _fetch(source: Source, numbers: list[int], key: Mapping[str, Any]) -> None:
    """Reads what is needed of all batches side by side; errors are left to those who need it."""
    storage = source.storage
    storage.fetch([f"{log}/{it}" for it in numbers for log in ("commits", "offsets")])
    if not storage.remote:
        return
    with suppress(KeyfoldError):
        batches = [find_batch(storage, it) for it in numbers]
        partitions, _ = partitions_of(source, batches[-1], key) if batches else ([], None)
        for partition in partitions:
            source.fetch_heads(batches, partition)
        if 0 not in partitions:
            # The head of partition 0 has the number of partitions of each batch.
            source.fetch_heads(batches, 0)


class _State:
    """Rows of a key in a partition, updated from batch to batch by deltas."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._known: dict[int, tuple[Version, Entries]] = {}

    def at(self, batch: Batch, partition: int, wanted: Selection) -> pa.Table:
        """The rows after a batch."""
        source = self._source
        entries = self._advanced(batch, partition, wanted)
        if entries is None:
            version = source.load(batch, partition, wanted)
            entries = version.entries.get(source.layout.family, NOTHING)
        family = source.family(source.head(batch, partition))
        if family is None:
            self._known.pop(partition, None)
            return _empty(source)
        self._known[partition] = (source.written(batch, partition), entries)
        rows = rows_of(entries, multi_value=family.multi_value)
        return source.shown(rows, family, partition)

    def _advanced(self, batch: Batch, partition: int, wanted: Selection) -> Entries | None:
        """The entries so far and those of one more delta; None if that delta does not follow."""
        source = self._source
        known = self._known.get(partition)
        if known is None:
            return None
        version, entries = known
        if version == source.written(batch, partition):
            return entries
        head = source.head(batch, partition)
        if not _follows(head, version):
            return None
        if source.layout.family in head.dropped:
            return None
        name = FileName(head.identity.version, head.identity.id, FileKind.DELTA)
        path = f"{source.place(partition).folder}/{name}"
        own = wanted.of_family(source.layout.family)
        blocks = own.blocks(head, ())
        if not blocks:
            return entries
        pieces = [entries]
        number = int(entries.file[-1]) + 1 if entries.count else 0
        with source.files(batch, partition).open(path) as file:
            for columns in read_blocks(file, read_footer(file), blocks):
                mask = own.mask(columns.hashes, head.identity.key_groups, ())
                piece = of_block(columns, number)
                pieces.append(piece if mask is None else piece.take(mask))
        return concatenated(pieces)


def _follows(head: Footer, version: Version) -> bool:
    if head.frame.kind is not FileKind.DELTA or not head.lineage:
        return False
    return (head.lineage[0].version, head.lineage[0].id) == version


def _change(before: pa.Table | None, now: pa.Table) -> str:
    if now.num_rows == 0:
        return "deleted" if before is not None and before.num_rows else ""
    if before is None:
        return "present"
    return "updated" if before.num_rows else "inserted"


def _dated(now: pa.Table, number: int, change: str, source: Source) -> pa.Table:
    if now.num_rows == 0:
        nulls = [pa.nulls(1, field.type) for field in source.layout.arrow]
        now = pa.Table.from_arrays(nulls, names=source.layout.arrow.names)
    count = now.num_rows
    names = ["batch_id", "change", *now.schema.names]
    columns = [pa.array([number] * count, pa.int64()), pa.array([change] * count, pa.string())]
    return pa.Table.from_arrays([*columns, *now.columns], names=names)


def _empty(source: Source) -> pa.Table:
    return source.layout.arrow.empty_table()
