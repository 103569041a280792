"""Converts checkpoints of HDFSBacked and RocksDB to Keyfold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold.admin import bridge
from keyfold.admin.lines import NOT_DONE, lines
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

    @classmethod
    def of(cls, found: dict[str, Any]) -> MigrationPlan:
        """From the JVM's answer."""
        return cls(
            checkpoint=found["checkpoint"],
            last_batch=found["lastBatch"],
            provider=found["provider"],
            partitions=found["partitions"],
            operators=tuple(it["name"] for it in found["operators"]),
            refusals=tuple(found["refusals"]),
            applied=found["applied"],
        )

    def __str__(self) -> str:
        """For a terminal."""
        rows = [
            ("checkpoint", self.checkpoint),
            ("provider", f"{self.provider.rpartition('.')[2]} -> KeyfoldStateStoreProvider"),
            ("operators", ", ".join(self.operators)),
            ("last batch", str(self.last_batch)),
            *(("refused", it) for it in self.refusals),
        ]
        if self.applied:
            done = f"batch {self.last_batch + 1} has the same state, in Keyfold's files"
            undo = bridge.command_line("migrate", self.checkpoint, undo=True, apply=True)
            rows += [("done", done), ("to undo", f"{undo}, before the query runs")]
        elif not self.refusals:
            rows.append(NOT_DONE)
        return lines(rows)


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

    @classmethod
    def of(cls, found: dict[str, Any]) -> MigrationUndo:
        """From the JVM's answer."""
        batch = None if found["batch"] < 0 else found["batch"]
        return cls(**found | {"batch": batch, "refusals": tuple(found["refusals"])})

    def __str__(self) -> str:
        """For a terminal."""
        rows = [
            ("checkpoint", self.checkpoint),
            ("provider", self.provider.rpartition(".")[2]),
            ("batch", "none of its own" if self.batch is None else f"{self.batch} goes"),
            ("files", f"{count(self.files)} of Keyfold's go, {size(self.bytes)}"),
            *(("refused", it) for it in self.refusals),
        ]
        return lines(rows if self.applied or self.refusals else [*rows, NOT_DONE])


def migrate(
    path: str | os.PathLike[str],
    *,
    dry_run: bool = True,
    spark: SparkSession | None = None,
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
    return MigrationPlan.of(_ask("migrate", path, spark, dry_run=dry_run))


def undo_migration(
    path: str | os.PathLike[str],
    *,
    dry_run: bool = True,
    spark: SparkSession | None = None,
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
    return MigrationUndo.of(_ask("undoMigration", path, spark, dry_run=dry_run))


def _ask(
    method: str, path: str | os.PathLike[str], spark: SparkSession | None, *, dry_run: bool
) -> dict[str, Any]:
    undo = method == "undoMigration"
    command = bridge.command_line("migrate", path, undo=undo, apply=not dry_run)
    return bridge.answer(method, bridge.place(path), dry_run, command=command, spark=spark)
