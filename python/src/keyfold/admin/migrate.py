"""Converts checkpoints of HDFSBacked and RocksDB to Keyfold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold.admin import bridge
from keyfold.admin.bridge import lines, result
from keyfold.text.units import count, size

if TYPE_CHECKING:
    import os

    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class MigrationPlan:
    """What a migration does, or has done.

    Attributes:
        checkpoint: location, with scheme.
        last_batch: the newest committed batch, whose state is converted; the next batch is the
            migration's.
        provider: class of the provider before the migration.
        partitions: number of partitions.
        operators: names of the stateful operators.
        refusals: the reasons why it cannot be done, a sentence each.
        applied: whether it was done.
    """

    checkpoint: str
    last_batch: int
    provider: str
    partitions: int
    operators: tuple[str, ...]
    refusals: tuple[str, ...]
    applied: bool

    def __str__(self) -> str:
        """For a terminal."""
        rows = [
            ("checkpoint", self.checkpoint),
            ("provider", f"{self.provider.rpartition('.')[2]} -> KeyfoldStateStoreProvider"),
            ("operators", ", ".join(self.operators)),
            ("last batch", str(self.last_batch)),
        ]
        if self.applied:
            done = f"batch {self.last_batch + 1} has the same state, in Keyfold's files"
            undo = bridge.command_line("migrate", self.checkpoint, undo=True, apply=True)
            rows += [("done", done), ("to undo", f"{undo}, before the query runs")]
        return lines(rows, applied=self.applied, refusals=self.refusals)


@dataclass(frozen=True)
class MigrationUndo:
    """What the undo of a migration deletes, or has deleted.

    Attributes:
        checkpoint: location, with scheme.
        batch: the migration's batch, which is removed from the logs; None if it had not started it.
        provider: class of the provider after the undo.
        files: number of files that Keyfold has written.
        bytes: their size.
        refusals: the reasons why it cannot be done, a sentence each.
        applied: whether it was done.
    """

    checkpoint: str
    batch: int | None
    provider: str
    files: int
    bytes: int
    refusals: tuple[str, ...]
    applied: bool

    def __str__(self) -> str:
        """For a terminal."""
        rows = [
            ("checkpoint", self.checkpoint),
            ("provider", self.provider.rpartition(".")[2]),
            ("batch", "none of its own" if self.batch is None else f"{self.batch} goes"),
            ("files", f"{count(self.files)} of Keyfold's go, {size(self.bytes)}"),
        ]
        return lines(rows, applied=self.applied, refusals=self.refusals)


def migrate(
    path: str | os.PathLike[str], *, dry_run: bool = True, spark: SparkSession | None = None
) -> MigrationPlan:
    """Converts a stopped query's state to Keyfold, with a Spark task for each partition.

    The old state stays as it is. If a migration was interrupted, the query does not start: call
    it again, or undo it with `undo_migration`.

    Args:
        path: checkpoint of a stopped query.
        dry_run: only plan.
        spark: session to use; by default the active one, or a new one.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
        JvmError: it is refused, and nothing was changed; or the checkpoint cannot be read.
    """
    found = _ask("migrate", path, spark, dry_run=dry_run)
    names = [it["name"] for it in found["operators"]]
    return result(MigrationPlan, found, operators=names)


def undo_migration(
    path: str | os.PathLike[str], *, dry_run: bool = True, spark: SparkSession | None = None
) -> MigrationUndo:
    """Undoes a migration, done or interrupted, if the query has not run with Keyfold since.

    It deletes what Keyfold has written: its batch in the logs, and its files, which HDFSBacked
    would treat as its own. The query goes on with its old provider. If an undo was interrupted,
    call it again.

    Args:
        path: checkpoint of a stopped query.
        dry_run: only show what would be deleted.
        spark: session to use; by default the active one, or a new one.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
        JvmError: it is refused, and nothing was changed; or the checkpoint cannot be read.
    """
    found = _ask("undoMigration", path, spark, dry_run=dry_run)
    batch = None if found["batch"] < 0 else found["batch"]
    return result(MigrationUndo, found, batch=batch)


def _ask(
    method: str, path: str | os.PathLike[str], spark: SparkSession | None, *, dry_run: bool
) -> dict[str, Any]:
    undo = method == "undoMigration"
    command = bridge.command_line("migrate", path, undo=undo, apply=not dry_run)
    return bridge.answer(method, path, dry_run, command=command, spark=spark)
