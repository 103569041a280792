"""The batches of a query as a table, from Spark's own logs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.errors import CheckpointDamagedError, FileMissingError
from keyfold.spark_log.logs import Offsets, batches, read_offsets
from keyfold.state.walk import THREADS
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


def batch_table(storage: Storage) -> pa.Table:
    """A row for each batch in one of the logs, ascending.

    A batch counts as committed when its file in the commit log was written, by the storage's clock.
    """
    times = {it.name: it.modified for it in storage.listing("commits")}
    started, committed = batches(storage, "offsets"), set(batches(storage, "commits"))
    with ThreadPoolExecutor(THREADS) as pool:
        offsets = dict(
            zip(started, pool.map(lambda it: _offsets(storage, it), started), strict=True)
        )
    rows = []
    for number in sorted(committed | set(started)):
        found = offsets.get(number)
        begun = found.timestamp_ms if found else None
        ended = times.get(str(number)) if number in committed else None
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


def _offsets(storage: Storage, batch: int) -> Offsets | None:
    try:
        return read_offsets(storage, batch)
    except (FileMissingError, CheckpointDamagedError):
        return None
