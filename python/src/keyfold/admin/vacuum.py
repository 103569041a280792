"""Deletes unreferenced files: of attempts that lost, and in folders of no store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from keyfold.admin import bridge
from keyfold.admin.bridge import lines, result
from keyfold.errors import InvalidArgumentError
from keyfold.text.units import plural, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

_HOUR_MS = 3_600_000
_CENTURY_HOURS = 876_600


@dataclass(frozen=True)
class Unreferenced:
    """An unreferenced file or folder.

    Attributes:
        path: relative to the checkpoint.
        bytes: its size.
        old: whether it has not changed for long enough to be deleted.
    """

    path: str
    bytes: int
    old: bool


@dataclass(frozen=True)
class Vacuum:
    """What a vacuum deletes, or has deleted: unreferenced files that are old.

    Attributes:
        checkpoint: location, with scheme.
        unreferenced: all unreferenced files, young or old.
        applied: whether it was done.
    """

    checkpoint: str
    unreferenced: tuple[Unreferenced, ...]
    applied: bool

    def __str__(self) -> str:
        """For a terminal."""
        old = [it for it in self.unreferenced if it.old]
        young = len(self.unreferenced) - len(old)
        rows = [
            ("checkpoint", self.checkpoint),
            ("unreferenced", f"{plural(len(old), 'path')}, {size(sum(it.bytes for it in old))}"),
            *(("", it.path) for it in old),
        ]
        if young:
            rows.append(("too young", plural(young, "path")))
        return lines(rows, applied=self.applied)


def vacuum(
    path: str,
    paths: Sequence[str],
    *,
    older_than_hours: float = 24,
    dry_run: bool = True,
    spark: SparkSession | None = None,
) -> Vacuum:
    """Deletes files that `fsck` has reported as unreferenced. The query may run.

    It does not delete files that retention will delete.

    Args:
        path: the checkpoint.
        paths: of the findings.
        older_than_hours: keep newer files; they may belong to a batch that is not committed yet.
            Temporary files of writers stay for ten minutes in any case.
        dry_run: only show what would be deleted.
        spark: session to use; by default the active one, or a new one.

    Raises:
        ClassicSessionError: the session is a Spark Connect session.
        InvalidArgumentError: `older_than_hours` is negative, or more than a century.
        JvmError: one of the files is in use; nothing was deleted.
    """
    # Neither is "not a number".
    if not 0 <= older_than_hours <= _CENTURY_HOURS:
        raise InvalidArgumentError(
            f"Invalid age of {older_than_hours} hours: give a number from 0 to {_CENTURY_HOURS:,}."
        )
    command = bridge.command_line(
        "vacuum", path, older_than_hours=older_than_hours, apply=not dry_run
    )
    prefix = path.rstrip("/") + "/"
    relative = "\n".join(it.removeprefix(prefix) for it in paths)
    age_ms = int(older_than_hours * _HOUR_MS)
    found = bridge.answer("vacuum", path, relative, age_ms, dry_run, command=command, spark=spark)
    return result(Vacuum, found)
