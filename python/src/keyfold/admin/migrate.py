"""A checkpoint kept by HDFSBacked or RocksDB becomes Keyfold's."""

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
        last_batch: the newest batch committed, whose state is taken; the next is the migration's.
        provider: class that keeps the state until then.
        partitions: number of partitions.
        operators: names of the stateful operators.
        refusals: why it cannot be done, a sentence each.
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
            undo = f"keyfold migrate {self.checkpoint} --undo, before the query runs"
            rows += [("done", done), ("to undo", undo)]
        elif not self.refusals:
            rows.append(NOT_DONE)
        return lines(rows)


@dataclass(frozen=True)
class MigrationUndo:
    """What giving a migration up deletes, or has deleted.

    Attributes:
        checkpoint: location, with scheme.
        batch: the migration's own, which leaves the logs; None if it had not begun it.
        provider: class that keeps the state from then on.
        files: number of files that Keyfold has written.
        bytes: of these.
        refusals: why it cannot be done, a sentence each.
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
    sink_path: str | None = None,
    no_file_sink: bool = False,
    spark: SparkSession | None = None,
) -> MigrationPlan:
    """Writes a stopped query's state anew with Keyfold, a Spark task for each partition.

    The old state stays as it is, and the checkpoint is the old provider's until the last step. One
    that was interrupted can be called again, or given up with `undo_migration`.

    Args:
        path: checkpoint of a stopped query.
        dry_run: only plan.
        sink_path: folder that the query's file sink writes to, whose log must learn of the
            migration's batch; a checkpoint does not tell.
        no_file_sink: that the query has no file sink. One of the two must be said.
        spark: session to work in; by default the active one, or one of its own.

    Raises:
        ClassicSessionError: the session is one of Spark Connect.
        JvmError: it is refused, and nothing was changed; or the checkpoint cannot be read.
    """
    found = _ask("migrate", path, dry_run, sink_path, no_file_sink, spark)
    return MigrationPlan.of(found)


def undo_migration(
    path: str | os.PathLike[str],
    *,
    dry_run: bool = True,
    sink_path: str | None = None,
    no_file_sink: bool = False,
    spark: SparkSession | None = None,
) -> MigrationUndo:
    """Gives a migration up, done or interrupted, if the query has not run with Keyfold since.

    What Keyfold has written is deleted: its batch in the logs, and its files, which HDFSBacked
    would take for its own. The query goes on with the provider that it had. One that was
    interrupted can be called again.

    Args:
        path: checkpoint of a stopped query.
        dry_run: only say what would be deleted.
        sink_path: as for `migrate`: its log must forget the migration's batch, or the next one is
            not written.
        no_file_sink: that the query has no file sink. One of the two must be said.
        spark: session to work in; by default the active one, or one of its own.

    Raises:
        ClassicSessionError: the session is one of Spark Connect.
        JvmError: it is refused, and nothing was changed; or the checkpoint cannot be read.
    """
    return MigrationUndo.of(_ask("undoMigration", path, dry_run, sink_path, no_file_sink, spark))


def _ask(  # noqa: PLR0913, PLR0917 - what both are called with
    method: str,
    path: str | os.PathLike[str],
    dry_run: bool,  # noqa: FBT001
    sink_path: str | None,
    no_file_sink: bool,  # noqa: FBT001
    spark: SparkSession | None,
) -> dict[str, Any]:
    command = bridge.command_line(
        "migrate",
        path,
        undo=method == "undoMigration",
        sink_path=sink_path,
        no_file_sink=no_file_sink,
        apply=not dry_run,
    )
    sink = bridge.sink(sink_path, no_file_sink=no_file_sink)
    return bridge.answer(method, str(path), sink, dry_run, command=command, spark=spark)
