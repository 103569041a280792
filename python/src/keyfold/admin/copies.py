"""Copies of checkpoints as of one batch: clones anywhere, savepoints inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold.admin import bridge
from keyfold.admin.bridge import lines, result
from keyfold.errors import InvalidArgumentError
from keyfold.sinks.find import find_table
from keyfold.sinks.sink_table import SinkTable
from keyfold.spark_log.batch import find_batch
from keyfold.storage.storage import Storage
from keyfold.text.units import count, size

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from pyspark.sql import SparkSession


SAVEPOINTS = "keyfold/savepoints"
"""Where savepoints are, relative to the checkpoint."""


@dataclass(frozen=True)
class Copy:
    """A copy of a checkpoint, or the plan of one.

    Attributes:
        source: location of the original.
        target: location of the copy.
        batch: the last batch of the copy.
        files: number of files, without logs.
        bytes: their size.
        applied: whether it was made.
        table: the Delta or Iceberg table that was given, and how it goes back; else None.
        warnings: what to know of the table.
    """

    source: str
    target: str
    batch: int
    files: int
    bytes: int
    applied: bool
    table: SinkTable | None = None
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        """For a terminal."""
        rows = [
            ("checkpoint", self.source),
            ("copy", self.target),
            ("batch", str(self.batch)),
            ("files", f"{count(self.files)}, {size(self.bytes)}"),
            *(self.table.rows() if self.table else ()),
            *(("warning", it) for it in self.warnings),
        ]
        return lines(rows, applied=self.applied, to_apply="leave --dry-run out")


def clone(  # noqa: PLR0913 - one for each option
    path: str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    batch: int | None = None,
    dry_run: bool = False,
    sink_path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    spark: SparkSession | None = None,
) -> Copy:
    """Copies one batch of a checkpoint, as the checkpoint of a new query. The original may run.

    Args:
        path: the original.
        to: folder of the copy, which must not exist, or must be empty.
        batch: the last batch of the copy; None: the newest committed one.
        dry_run: only show what would be copied.
        sink_path: folder of the original's Delta or Iceberg table, if the new query goes on with
            it: the result has the SQL that takes the table back to the batch.
        storage_options: as of `keyfold.open_checkpoint`, to read a table on an object store.
        spark: session to use; by default the active one, or a new one.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
        InvalidArgumentError: there is no table in `sink_path`, or its newest commits are not in its
            log.
        TableDamagedError: the log of the table cannot be parsed.
        StorageError: the folder of the table cannot be read.
        JvmError: the batch is no longer retained, or the target is not empty.
    """
    command = bridge.command_line(
        "clone", path, to, batch=batch, sink_path=sink_path, dry_run=dry_run
    )
    chosen, table = -1 if batch is None else batch, None
    if sink_path is not None:
        # The newest batch is chosen here, since a running query may commit another one meanwhile.
        checkpoint = Storage(path, storage_options)
        chosen = find_batch(checkpoint, chosen).number
        place = bridge.place(sink_path, "folder of the table")
        table = find_table(checkpoint.elsewhere(place), checkpoint, chosen)
        if table is None:
            raise InvalidArgumentError(
                f"Invalid folder of the table: there is no Delta or Iceberg table in {place}."
            )
    found = bridge.answer(
        "cloneCheckpoint", path, bridge.place(to), chosen, dry_run, command=command, spark=spark
    )
    if table is None:
        return _copy(found)
    taken = found["batch"]
    again = bridge.command_line(
        "clone", path, f"{str(to).rstrip('/')}/plan", batch=taken, sink_path=sink_path, dry_run=True
    )
    stop = (
        "stop the original for good before the clone starts, and make the plan again after that, "
        f"since each batch that it writes until then comes twice: {again}"
    )
    return _copy(found, table=table, warnings=(*table.warnings(taken), stop))


def savepoint(
    path: str | os.PathLike[str], name: str, *, spark: SparkSession | None = None
) -> Copy:
    """Copies a checkpoint's newest batch to its folder `keyfold/savepoints/NAME`, where it is kept.

    The copy is a checkpoint of the same query, with its id: start the query on a clone of it. On
    the copy itself, a sink that goes by the id, as Delta's and Iceberg's do, would skip the batches
    that it has.

    Args:
        path: the checkpoint; its query may run.
        name: letters, digits, dots, dashes and underscores.
        spark: session to use; by default the active one, or a new one.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
        JvmError: a savepoint with that name exists, or no batch is committed.
    """
    command = bridge.command_line("savepoint", path, name)
    found = bridge.answer("savepoint", path, name, command=command, spark=spark)
    return _copy(found)


def _copy(found: dict[str, Any], **other: object) -> Copy:
    return result(Copy, found, source=found["from"], target=found["to"], **other)
