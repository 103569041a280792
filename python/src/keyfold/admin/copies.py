"""Copies of checkpoints as of one batch: clones anywhere, savepoints inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold.admin import bridge
from keyfold.admin.lines import NOT_DONE, lines
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
        batch: the batch that it ends with.
        files: number of files, without logs.
        bytes: of these.
        applied: whether it was made.
    """

    source: str
    target: str
    batch: int
    files: int
    bytes: int
    applied: bool

    @classmethod
    def of(cls, found: dict[str, Any]) -> Copy:
        """From the JVM's answer."""
        return cls(
            source=found["from"],
            target=found["to"],
            batch=found["batch"],
            files=found["files"],
            bytes=found["bytes"],
            applied=found["applied"],
        )

    def __str__(self) -> str:
        """For a terminal."""
        rows = [
            ("checkpoint", self.source),
            ("copy", self.target),
            ("batch", str(self.batch)),
            ("files", f"{count(self.files)}, {size(self.bytes)}"),
        ]
        return lines(rows if self.applied else [*rows, NOT_DONE])


def clone(
    path: str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    batch: int | None = None,
    dry_run: bool = False,
    spark: SparkSession | None = None,
) -> Copy:
    """Copies a checkpoint as of one batch, as that of a new query; the original may be running.

    Args:
        path: the original.
        to: folder of the copy, which must not be there, or be empty.
        batch: the batch to end with; None: the newest that is committed.
        dry_run: only say what would be copied.
        spark: session to work in; by default the active one, or one of its own.

    Raises:
        ClassicSessionError: the session is one of Spark Connect.
        JvmError: the batch is not retained any more, or the target is not empty.
    """
    chosen = -1 if batch is None else batch
    command = bridge.command_line("clone", path, to, batch=batch, dry_run=dry_run)
    found = bridge.answer(
        "cloneCheckpoint", str(path), str(to), chosen, dry_run, command=command, spark=spark
    )
    return Copy.of(found)


def savepoint(
    path: str | os.PathLike[str], name: str, *, spark: SparkSession | None = None
) -> Copy:
    """Copies a checkpoint's newest batch to `keyfold/savepoints/NAME` in it, where it stays.

    The copy is a checkpoint of the same query: start the query on it, or on a clone of it.

    Args:
        path: the checkpoint; its query may be running.
        name: letters, digits, dots, dashes and underscores.
        spark: session to work in; by default the active one, or one of its own.

    Raises:
        ClassicSessionError: the session is one of Spark Connect.
        JvmError: there is a savepoint of that name, or nothing was committed.
    """
    command = bridge.command_line("savepoint", path, name)
    found = bridge.answer("savepoint", str(path), name, command=command, spark=spark)
    return Copy.of(found)
