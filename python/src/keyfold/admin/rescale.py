"""Changes a stopped query's number of partitions by references to key groups of old files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold.admin import bridge
from keyfold.admin.bridge import lines, result
from keyfold.errors import InvalidArgumentError
from keyfold.spark_log.logs import MOST_PARTITIONS
from keyfold.text.units import count, size

if TYPE_CHECKING:
    import os

    from pyspark.sql import SparkSession


@dataclass(frozen=True, kw_only=True)
class RescalePlan:
    """What a rescale does, or has done. Sizes are in bytes.

    Attributes:
        checkpoint: location, with scheme.
        last_batch: the newest batch committed before it.
        batch: the rescale's own batch, which reads no input, or the query's open batch.
        is_open: whether the query was stopped in the middle of that batch, which keeps its number
            and its input, and will run with the new number of partitions.
        before: number of partitions before the rescale.
        after: number of partitions after it.
        referenced_bytes: size of the files that the new partitions refer to.
        first_load_bytes: bytes of rows that the first loads of all new partitions read, at most.
        first_load_files: files that these loads open; a file counts once for each load.
        most_load_bytes: bytes that the first load of one new partition reads, at most.
        most_load_files: files that the first load of one new partition opens, at most.
        refusals: the reasons why it cannot be done, a sentence each.
        warnings: what to check before it.
        applied: whether it was done.
        duration_ms: time that it took; None for a plan.
        details: all details, by operator, store and partition.
    """

    checkpoint: str
    last_batch: int
    batch: int
    is_open: bool
    before: int
    after: int
    referenced_bytes: int
    first_load_bytes: int
    first_load_files: int
    most_load_bytes: int
    most_load_files: int
    refusals: tuple[str, ...]
    warnings: tuple[str, ...]
    applied: bool
    duration_ms: int | None = None
    details: dict[str, Any]

    def __str__(self) -> str:
        """For a terminal."""
        every = _load(self.first_load_bytes, self.first_load_files)
        one = _load(self.most_load_bytes, self.most_load_files)
        rows = [
            ("checkpoint", self.checkpoint),
            ("partitions", f"{self.before} -> {self.after}"),
            ("last batch", str(self.last_batch)),
            ("state", f"{size(self.referenced_bytes)} referenced, none rewritten"),
            ("first loads", f"{every} to read, over all new partitions; at most {one} by one"),
            *(("warning", it) for it in self.warnings),
        ]
        where, verb, how = "batch", "rollback", {"to_batch": self.last_batch}
        if self.is_open:
            where, verb, how = "before batch", "rescale", {"undo": True}
            rows.insert(3, ("open batch", f"{self.batch}, which keeps its number and its input"))
        if self.applied:
            undo = bridge.command_line(verb, self.checkpoint, **how, apply=True)
            rows += [("done", f"{where} {self.batch}, in {self.duration_ms} ms"), ("to undo", undo)]
        return lines(rows, applied=self.applied, refusals=self.refusals)


@dataclass(frozen=True, kw_only=True)
class RescaleUndo:
    """What the undo of a rescale before an open batch, or of a redistribution, does or has done.

    Attributes:
        checkpoint: its path.
        batch: the open batch, or the next one.
        before: number of partitions before the undo.
        after: number of partitions after it.
        operator: id of the operator of a redistribution, which has its old subtasks again.
        applied: whether it was done.
    """

    checkpoint: str
    batch: int
    before: int
    after: int
    operator: int | None = None
    applied: bool

    def __str__(self) -> str:
        """For a terminal."""
        what = (
            ("partitions", f"{self.before} -> {self.after}")
            if self.operator is None
            else ("operator", f"{self.operator}, with its subtasks before the redistribution")
        )
        rows = [
            ("checkpoint", self.checkpoint),
            what,
            ("open batch" if self.operator is None else "before batch", str(self.batch)),
        ]
        return lines([*rows, ("done", "undone")] if self.applied else rows, applied=self.applied)


def undo_rescale(
    path: str | os.PathLike[str], *, dry_run: bool = True, spark: SparkSession | None = None
) -> RescaleUndo:
    """Undoes the last rescale before a batch that is still open, or `redistribute` before the next.

    A rescale that had a batch of its own is undone by a rollback to the batch before.

    Args:
        path: checkpoint of a stopped query.
        dry_run: only plan.
        spark: as for `plan_rescale`.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
        JvmError: there is no such rescale, or the query has run since; nothing was changed.
    """
    command = bridge.command_line("rescale", path, undo=True, apply=not dry_run)
    found = bridge.answer("undoRescale", path, dry_run, command=command, spark=spark)
    return result(RescaleUndo, found)


def _load(bytes_: int, files: int) -> str:
    return f"{size(bytes_)} of {count(files)} file{'' if files == 1 else 's'}"


def plan_rescale(
    path: str | os.PathLike[str], partitions: int, *, spark: SparkSession | None = None
) -> RescalePlan:
    """Returns what `rescale` would do; writes nothing.

    Args:
        path: checkpoint of a stopped query.
        partitions: the new number of partitions.
        spark: session to use; by default the active one, or a new one.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
        InvalidArgumentError: no query has so many partitions.
        JvmError: the checkpoint cannot be read. Reasons against the rescale are in the plan's
            `refusals` instead.
    """
    return rescale(path, partitions, dry_run=True, spark=spark)


def rescale(
    path: str | os.PathLike[str],
    partitions: int,
    *,
    dry_run: bool = True,
    spark: SparkSession | None = None,
) -> RescalePlan:
    """Changes the number of partitions of a stopped query, whatever the state's size, in seconds.

    If the query was stopped in the middle of a batch, that batch keeps its number and its input
    (under checkpoint format 2). If a rescale was interrupted, call it again to finish it.

    Args:
        path: checkpoint of a stopped query.
        partitions: the new number of partitions.
        dry_run: only plan.
        spark: as for `plan_rescale`.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
        InvalidArgumentError: no query has so many partitions.
        JvmError: it is refused; nothing was changed.
    """
    if partitions > MOST_PARTITIONS:
        raise InvalidArgumentError(
            f"Invalid number of partitions {partitions:,}: a query has at most {MOST_PARTITIONS:,}."
        )
    command = bridge.command_line("rescale", path, to=partitions, apply=not dry_run)
    found = bridge.answer("rescale", path, partitions, dry_run, command=command, spark=spark)
    return result(
        RescalePlan,
        found,
        most_load_bytes=found["firstLoadBytesMax"],
        most_load_files=found["firstLoadFilesMax"],
        details=found,
    )
