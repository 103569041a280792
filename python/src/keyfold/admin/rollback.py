"""Takes a stopped query back to an earlier batch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold.admin import bridge
from keyfold.admin.bridge import lines, result
from keyfold.errors import ExtraMissingError, InvalidArgumentError, JvmError, StorageError
from keyfold.sinks.find import find_table
from keyfold.sinks.sink_table import SinkTable
from keyfold.storage.storage import Storage
from keyfold.text.units import count

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

_ASIDE = re.compile(r"rollback-\d{1,18}-[0-9a-f-]+")
_NO_SINK = (
    "the query gets a new id, so a Delta or Iceberg table takes the rows of the batches that run "
    "again once more: give its folder with --sink-path, and the plan has the SQL that takes it "
    "back. Give the folder of a file sink too: its log goes back. A sink that goes by batch "
    "numbers alone skips these batches"
)
# How the refusal ends if the batch is the last one already.
_IS_LAST = "batch {0} is not before the last one, which is {0}."
_RESTORED = (
    "if a table of Delta or Iceberg was restored for this rollback, take it forward again before "
    "the query starts: its later batches do not run again, so the table would lack their rows"
)


@dataclass(frozen=True, kw_only=True)
class Rollback:
    """What a rollback does, or has done.

    Attributes:
        checkpoint: location, with scheme.
        batch: the last batch after the rollback.
        before: the last batch before it.
        files: number of files set aside, or put back.
        aside: folder below `keyfold` with these files; None for a plan, and if it was done before.
        sink: location of the file sink whose log goes with it; None if none was given.
        table: the Delta or Iceberg table that was given, and how it goes back; else None.
        warnings: what to check.
        applied: whether it was done.
        undone: whether it is the undo of a rollback.
    """

    checkpoint: str
    batch: int
    before: int
    files: int
    aside: str | None = None
    sink: str | None = None
    table: SinkTable | None = None
    warnings: tuple[str, ...]
    applied: bool
    undone: bool

    def __str__(self) -> str:
        """For a terminal."""
        rows = [
            ("checkpoint", self.checkpoint),
            ("last batch", f"{self.before} -> {self.batch}"),
            ("files", "none left to set aside" if self._is_done_before else self._moved()),
            *(self.table.rows() if self.table else ()),
            *(("warning", it) for it in self.warnings),
        ]
        if self.applied and not self.undone:
            undo = bridge.command_line("rollback", self.checkpoint, undo=self.aside, apply=True)
            rows.append(("to undo", undo))
        return lines(rows, applied=self.applied or self._is_done_before)

    @property
    def _is_done_before(self) -> bool:
        """Whether only the table is left."""
        return self.files == 0 and self.before == self.batch

    def _moved(self) -> str:
        done = "put back" if self.undone else "set aside" if self.applied else "to set aside"
        return f"{count(self.files)} {done}"


def rollback(  # noqa: PLR0913 - one for each option
    path: str | os.PathLike[str],
    batch: int,
    *,
    dry_run: bool = True,
    sink_path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    spark: SparkSession | None = None,
) -> Rollback:
    """Makes an earlier batch the last one of a stopped query; newer files are set aside.

    Args:
        path: checkpoint of a stopped query.
        batch: a batch that the checkpoint still has.
        dry_run: only show what would be set aside.
        sink_path: folder of the query's file sink, or of its Delta or Iceberg table. Of a file
            sink, the newer entries of its log are set aside too, in its folder `_keyfold`: Spark
            would not run their batches again. What they have written stays; Spark's readers go by
            the log. A table is only read: the result has the SQL that takes it back, also if the
            rollback is done already.
        storage_options: as of `keyfold.open_checkpoint`, to read a table on an object store.
        spark: session to use; by default the active one, or a new one.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
        InvalidArgumentError: the newest commits are not in the log of the table.
        TableDamagedError: the log of the table cannot be parsed.
        JvmError: it is refused; nothing was changed.
    """
    command = bridge.command_line(
        "rollback", path, to_batch=batch, sink_path=sink_path, apply=not dry_run
    )
    sink = None if sink_path is None else bridge.place(sink_path, "folder of the sink")
    table, unread = None, None
    if sink is not None:
        try:
            # Before the rollback, which gives the query a new id.
            checkpoint = Storage(path, storage_options)
            table = find_table(checkpoint.elsewhere(sink), checkpoint, batch)
        except (ExtraMissingError, StorageError) as error:
            # A file sink is for the JVM, which may have other credentials.
            unread = error
    files = None if table else sink
    try:
        found = bridge.answer("rollback", path, batch, files, dry_run, command=command, spark=spark)
    except JvmError as error:
        is_last = str(error).endswith(_IS_LAST.format(batch))
        if table and is_last and (table.behind or (table.restore and table.rolled_back)):
            # Only the table is left to go back, or forward.
            return Rollback(
                checkpoint=checkpoint.root,
                batch=batch,
                before=batch,
                files=0,
                table=table,
                warnings=tuple(table.warnings(batch)),
                applied=False,
                undone=False,
            )
        if unread is None:
            raise
        raise JvmError(
            f"{error.args[0]} A Delta or Iceberg table could not be looked for: {unread.args[0]}",
            error.condition,
        ) from None
    more = [_NO_SINK] if sink is None else table.warnings(found["batch"]) if table else ()
    return result(Rollback, found, table=table, warnings=(*found["warnings"], *more))


def undo_rollback(
    path: str | os.PathLike[str], aside: str, *, spark: SparkSession | None = None
) -> Rollback:
    """Puts back the files that a rollback set aside, if the query has not run since.

    Args:
        path: checkpoint of a stopped query.
        aside: `aside` of the rollback's result.
        spark: session to use; by default the active one, or a new one.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
        InvalidArgumentError: `aside` is not the name of such a folder.
        JvmError: it is refused; nothing was changed.
    """
    if not _ASIDE.fullmatch(aside):
        raise InvalidArgumentError(
            f"Invalid name {aside!r} of the files that a rollback set aside: give that of a folder "
            "`rollback-...` in `keyfold` of the checkpoint, which the rollback has printed."
        )
    command = bridge.command_line("rollback", path, undo=aside, apply=True)
    found = bridge.answer("undoRollback", path, aside, command=command, spark=spark)
    more = [] if found.get("sink") else [_RESTORED]
    return result(Rollback, found, warnings=(*found["warnings"], *more))
