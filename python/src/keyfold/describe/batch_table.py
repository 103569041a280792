"""The batches of a query as a table, from Spark's own logs."""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.spark_log.logs import Offsets, batches, offsets_or_none
from keyfold.storage.files import Listed
from keyfold.storage.storage import Storage

SCHEMA = pa.schema(
    [
        ("batch_id", pa.int64()),
        ("started_ms", pa.int64()),
        ("committed_ms", pa.int64()),
        ("duration_ms", pa.int64()),
        ("committed", pa.bool_()),
        ("watermark_ms", pa.int64()),
        ("partitions", pa.int32()),
        ("provider", pa.string()),
    ]
)

# Of the driver, which writes when a batch starts, and of the storage.
_CLOCKS_APART_MS = 60_000


def batch_table(storage: Storage) -> pa.Table:
    """A row for each batch in one of the logs, ascending.

    A batch counts as committed when its file in the commit log was written, by the storage's clock;
    null if that is not known, as in a copy of the checkpoint, whose files are younger.
    """
    started, committed = batches(storage, "offsets"), set(batches(storage, "commits"))
    read = storage.side_by_side(lambda it: offsets_or_none(storage, it), started)
    offsets = dict(zip(started, read, strict=True))
    times = _times(storage, offsets)
    rows = []
    for number in sorted(committed | set(started)):
        found = offsets.get(number)
        begun = found.timestamp_ms if found else None
        ended = times.get(number) if number in committed else None
        rows.append(
            {
                "batch_id": number,
                "started_ms": begun,
                "committed_ms": ended,
                "duration_ms": None if begun is None or ended is None else max(ended - begun, 0),
                "committed": number in committed,
                "watermark_ms": found.watermark_ms if found else None,
                "partitions": found.shuffle_partitions if found else None,
                "provider": found.provider if found else None,
            }
        )
    return pa.Table.from_pylist(rows, SCHEMA)


def _times(storage: Storage, offsets: dict[int, Offsets | None]) -> dict[int, int | None]:
    """When each batch was committed; None where the file is younger than the next batch."""
    found: dict[int, int | None] = {}
    is_copy = False
    for it in sorted((it for it in storage.listing("commits") if it.name.isdecimal()), key=_number):
        number = _number(it)
        after = offsets.get(number + 1)
        if after is not None and it.modified is not None:
            is_copy = it.modified > after.timestamp_ms + _CLOCKS_APART_MS
        # No batch follows the last one; it is taken for what the one before it is.
        found[number] = None if is_copy else it.modified
    return found


def _number(it: Listed) -> int:
    return int(it.name)
