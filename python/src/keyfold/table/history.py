"""One key in all retained batches."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.errors import BatchNotRetainedError, FileMissingError, KeyfoldError
from keyfold.spark_log.batch import find_batch
from keyfold.spark_log.migrated import own_batches
from keyfold.state.version import Known
from keyfold.table.lookup import look_up, named_key, partitions_of, stray_partitions
from keyfold.table.source import Source


def history(source: Source, key: Mapping[str, Any]) -> pa.Table:
    """All states of a key, with the batch that made each; nulls if the key is absent.

    Raises as `StateTable.get` does.
    """
    key = named_key(source, key)
    changes: list[pa.Table] = []
    before: pa.Table | None = None
    numbers = own_batches(source.storage)
    _fetch(source, numbers, key)
    # Most batches have the files of the batch before them and one more.
    known: dict[int, Known] = {}

    @cache
    def strays() -> list[int]:
        # A family that has strays keeps the mark: the newest batch knows of all.
        return stray_partitions(source, find_batch(source.storage, numbers[-1]))

    for number in numbers:
        try:
            now = look_up(source, find_batch(source.storage, number), key, strays, known)
        except (BatchNotRetainedError, FileMissingError):
            # Retention has deleted these files; those of later batches exist.
            continue
        if before is None or not now.equals(before):
            change = _change(before, now)
            if change:
                changes.append(_dated(now, number, change, source))
        before = now
    if not changes:
        return _dated(source.layout.arrow.empty_table(), 0, "", source).slice(0, 0)
    return pa.concat_tables(changes)


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


def _change(before: pa.Table | None, now: pa.Table) -> str:
    if now.num_rows == 0:
        return "deleted" if before is not None and before.num_rows else ""
    if before is None:
        return "present"
    return "updated" if before.num_rows else "inserted"


def _dated(now: pa.Table, number: int, change: str, source: Source) -> pa.Table:
    if now.num_rows == 0:
        now = pa.Table.from_pylist([{}], source.layout.arrow)
    count = now.num_rows
    changes = now.add_column(0, "change", pa.array([change] * count, pa.string()))
    return changes.add_column(0, "batch_id", pa.array([number] * count, pa.int64()))
