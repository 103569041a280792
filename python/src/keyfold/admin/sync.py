"""A copy of a checkpoint that is brought up to date, so that its query can go on elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from keyfold.admin import bridge
from keyfold.admin.bridge import result
from keyfold.text.units import count, size

if TYPE_CHECKING:
    import os

    from pyspark.sql import SparkSession

PASSING: Final = frozenset(
    {"KEYFOLD_CLONE_BATCH", "KEYFOLD_FILE_MISSING", "KEYFOLD_CONCURRENT_UPDATE"}
)
"""Conditions of errors that the next sync may not meet: no batch yet, retention, a rescale."""

LASTING: Final = frozenset(
    {"KEYFOLD_SYNC_TARGET", "KEYFOLD_CLONE_TARGET", "KEYFOLD_CLONE_PROVIDER"}
)
"""Conditions of errors that the next sync would meet as well, also after one that succeeded."""


@dataclass(frozen=True)
class Sync:
    """What a sync has done.

    Attributes:
        source: location of the checkpoint.
        target: location of the copy.
        batch: the newest batch of the copy.
        files: number of files that were copied, without logs.
        bytes: their size.
        deleted: number of files that the batch does not need any more.
        duration_ms: how long it took.
    """

    source: str
    target: str
    batch: int
    files: int
    bytes: int
    deleted: int
    duration_ms: int

    def __str__(self) -> str:
        """For a terminal."""
        return (
            f"batch {self.batch}: copied {count(self.files)} files, {size(self.bytes)}; deleted "
            f"{count(self.deleted)}; {self.duration_ms} ms"
        )


def sync(
    path: str | os.PathLike[str], to: str | os.PathLike[str], *, spark: SparkSession | None = None
) -> Sync:
    """Brings a copy of a checkpoint to the newest committed batch. The query may run meanwhile.

    Only files that are not there are copied, and what the batch does not need is deleted. Until
    the entries of the logs are written, all at the end, the copy is that of the batch before. A
    sync that was killed is finished by the next. To go on elsewhere, end the syncs and start the
    query with the copy as its `checkpointLocation`; from then on a sync is refused.

    Args:
        path: the checkpoint.
        to: folder of the copy: of an earlier sync, or one that does not exist. One sync at a time.
        spark: session to use; by default the active one, or a new one.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
        JvmError: no batch is committed, or what is in the target is not from syncs of this query.
    """
    command = bridge.command_line("sync", path, to)
    found = bridge.answer("sync", path, bridge.place(to), command=command, spark=spark)
    return result(Sync, found, source=found["from"], target=found["to"])
