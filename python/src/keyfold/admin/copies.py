"""Copies of checkpoints as of one batch: clones anywhere, savepoints inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold.admin import bridge
from keyfold.admin.result import lines, result
from keyfold.text.units import count, size

if TYPE_CHECKING:
    import os

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
    """

    source: str
    target: str
    batch: int
    files: int
    bytes: int
    applied: bool

    def __str__(self) -> str:
        """For a terminal."""
        rows = [
            ("checkpoint", self.source),
            ("copy", self.target),
            ("batch", str(self.batch)),
            ("files", f"{count(self.files)}, {size(self.bytes)}"),
        ]
        return lines(rows, applied=self.applied)


def clone(
    path: str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    batch: int | None = None,
    dry_run: bool = False,
    spark: SparkSession | None = None,
) -> Copy:
    """Copies one batch of a checkpoint, as the checkpoint of a new query. The original may run.

    Args:
        path: the original.
        to: folder of the copy, which must not exist, or must be empty.
        batch: the last batch of the copy; None: the newest committed one.
        dry_run: only show what would be copied.
        spark: session to use; by default the active one, or a new one.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
        JvmError: the batch is no longer retained, or the target is not empty.
    """
    chosen = -1 if batch is None else batch
    command = bridge.command_line("clone", path, to, batch=batch, dry_run=dry_run)
    found = bridge.answer(
        "cloneCheckpoint", path, bridge.place(to), chosen, dry_run, command=command, spark=spark
    )
    return _copy(found)


def savepoint(
    path: str | os.PathLike[str], name: str, *, spark: SparkSession | None = None
) -> Copy:
    """Copies a checkpoint's newest batch to its folder `keyfold/savepoints/NAME`, where it is kept.

    The copy is a checkpoint of the same query: start the query on it, or on a clone of it.

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


def _copy(found: dict[str, Any]) -> Copy:
    return result(Copy, found, source=found["from"], target=found["to"])
