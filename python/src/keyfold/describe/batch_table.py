"""The batches of a query as a table, from Spark's own logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.spark_log.logs import Offsets, batches, offsets_or_none
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
    started, committed = batches(storage, "offsets"), batches(storage, "commits")
    read = storage.side_by_side(lambda it: offsets_or_none(storage, it), started)
    offsets = dict(zip(started, read, strict=True))
    times = commit_times(storage, committed, offsets)
    rows = []
    for number in sorted({*committed, *started}):
        of_batch = offsets.get(number)
        begun = of_batch.timestamp_ms if of_batch else None
        ended = times.get(number)
        rows.append(
            {
                "batch_id": number,
                "started_ms": begun,
                "committed_ms": ended,
                "duration_ms": None if begun is None or ended is None else max(ended - begun, 0),
                "committed": number in times,
                "watermark_ms": of_batch and of_batch.watermark_ms,
                "partitions": of_batch and of_batch.shuffle_partitions,
                "provider": of_batch and of_batch.provider,
            }
        )
    return pa.Table.from_pylist(rows, SCHEMA)


def commit_times(
    storage: Storage, committed: Sequence[int], offsets: Mapping[int, Offsets | None]
) -> dict[int, int | None]:
    """When each batch was committed, in ms since 1970, by the time of its file in the commit log.

    None where the file is younger than the next batch, or the batch's entry in the offset log than
    the batch, as in a copy. `committed` is ascending.
    """
    written = {it.name: it.modified for it in storage.listing("commits")}
    begun = {it.name: it.modified for it in storage.listing("offsets")}
    times: dict[int, int | None] = {}
    is_copy = False
    for number in committed:
        ended, after = written.get(str(number)), offsets.get(number + 1)
        if after is not None and ended is not None:
            is_copy = ended > after.timestamp_ms + _CLOCKS_APART_MS
        # No batch follows the last one; it is taken for what the one before it is. Where there is
        # none, or a copy has gone on, the entry with which a batch begins is too young.
        is_young = _is_young(begun.get(str(number)), offsets.get(number))
        times[number] = None if is_copy or is_young else ended
    return times


def _is_young(written_ms: int | None, offsets: Offsets | None) -> bool:
    """Whether an entry of the offset log was written long after its batch had begun."""
    if written_ms is None or offsets is None:
        return False
    return written_ms > offsets.timestamp_ms + _CLOCKS_APART_MS
