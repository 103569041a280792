"""Rows on their way to a subtask and back, as Arrow streams in a column of bytes.

So Spark's types arrive exactly as Arrow has them, and few rows are sorted and grouped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.errors import InvalidArgumentError
from keyfold.subtasks.place import place_of

Batches = Iterable[pa.RecordBatch]
Mapper = Callable[[Batches], Iterator[pa.RecordBatch]]

TAGGED: Final = "subtask int, place int, phase int, task int, number long"
"""The columns beside the rows: the key, then the order in which a subtask takes its rows."""

HEARTBEAT, BROADCAST, OWN = range(3)
_TYPES: Final = (pa.int32(), pa.int32(), pa.int32(), pa.int32(), pa.int64(), pa.binary())


def packed(batches: Batches, schema: pa.Schema) -> bytes:
    """Batches as a stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def unpacked(stream: bytes) -> list[pa.RecordBatch]:
    """The batches of a stream."""
    with pa.ipc.open_stream(stream) as reader:
        return list(reader)


def unpack(batches: Batches) -> Iterator[pa.RecordBatch]:
    """For mapInArrow: the batches of all streams in the first column."""
    for batch in batches:
        for stream in batch.column(0):
            yield from unpacked(stream.as_py())


def dealing(column: str, parallelism: int, route: str | None, task: Callable[[], int]) -> Mapper:
    """For mapInArrow: deals rows to subtasks, and brings each subtask a heartbeat.

    Row i of map task t goes to subtask `(t + i) % parallelism`, or with a route to the subtask
    `value % parallelism` of that column.

    Args:
        column: name for the packed rows.
        parallelism: number of subtasks.
        route: a column of integers.
        task: tells in a task its number.
    """

    def deal(batches: Batches) -> Iterator[pa.RecordBatch]:
        write = _Tagged(column, parallelism, task())
        yield write.of([(subtask, HEARTBEAT, 0, b"") for subtask in range(parallelism)])
        dealt = task()
        for number, batch in enumerate(batches):
            if route is None:
                owners = np.arange(dealt, dealt + batch.num_rows) % parallelism
                dealt += batch.num_rows
            else:
                owners = _routed(batch.column(route), route, parallelism)
            streams = {
                int(it): packed([_taken(batch, owners == it)], batch.schema)
                for it in np.unique(owners)
            }
            yield write.of([(it, OWN, number, stream) for it, stream in streams.items()])

    return deal


def copying(column: str, parallelism: int, task: Callable[[], int]) -> Mapper:
    """For mapInArrow: a copy of all rows for each subtask, and a heartbeat."""

    def copy(batches: Batches) -> Iterator[pa.RecordBatch]:
        write = _Tagged(column, parallelism, task())
        yield write.of([(subtask, HEARTBEAT, 0, b"") for subtask in range(parallelism)])
        for number, batch in enumerate(batches):
            if batch.num_rows:
                stream = packed([batch], batch.schema)
                yield write.of([(it, BROADCAST, number, stream) for it in range(parallelism)])

    return copy


class _Tagged:
    """Makes batches of packed rows, in one task."""

    def __init__(self, column: str, parallelism: int, task: int) -> None:
        names = [it.split()[0] for it in TAGGED.split(", ")]
        self._schema = pa.schema(list(zip([*names, column], _TYPES, strict=True)))
        self._places = [place_of(subtask) for subtask in range(parallelism)]
        self._task = task

    def of(self, rows: list[tuple[int, int, int, bytes]]) -> pa.RecordBatch:
        """A batch of rows, each given by subtask, phase, number and stream."""
        tagged = [
            (subtask, self._places[subtask], phase, self._task, number, stream)
            for subtask, phase, number, stream in rows
        ]
        names = self._schema.names
        columns = [dict(zip(names, it, strict=True)) for it in tagged]
        return pa.RecordBatch.from_pylist(columns, self._schema)


def _routed(values: pa.Array, route: str, parallelism: int) -> npt.NDArray[np.int64]:
    if values.null_count:
        raise InvalidArgumentError(
            f"Invalid value in column {route!r}: null. It says to which subtask a row goes."
        )
    numbers: npt.NDArray[np.int64] = np.asarray(values).astype(np.int64)
    return numbers % parallelism


def _taken(batch: pa.RecordBatch, mask: npt.NDArray[np.bool_]) -> pa.RecordBatch:
    return batch if mask.all() else batch.filter(pa.array(mask))
