"""What a checkpoint has and nobody needs: leftovers of attempts, folders of nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold.admin import bridge
from keyfold.admin.lines import NOT_DONE, lines
from keyfold.text.units import plural, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

_HOUR_MS = 3_600_000


@dataclass(frozen=True)
class Waste:
    """A file or folder that is not needed.

    Attributes:
        path: relative to the checkpoint.
        bytes: of it.
        old: whether it has not changed for long enough to go.
    """

    path: str
    bytes: int
    old: bool


@dataclass(frozen=True)
class Vacuum:
    """What a vacuum deletes, or has deleted: the waste that is old.

    Attributes:
        checkpoint: location, with scheme.
        waste: what is not needed, young or old.
        applied: whether it was done.
    """

    checkpoint: str
    waste: tuple[Waste, ...]
    applied: bool

    @classmethod
    def of(cls, found: dict[str, Any]) -> Vacuum:
        """From the JVM's answer."""
        waste = tuple(Waste(**it) for it in found["waste"])
        return cls(checkpoint=found["checkpoint"], waste=waste, applied=found["applied"])

    def __str__(self) -> str:
        """For a terminal."""
        old = [it for it in self.waste if it.old]
        young = len(self.waste) - len(old)
        rows = [
            ("checkpoint", self.checkpoint),
            ("not needed", f"{plural(len(old), 'path')}, {size(sum(it.bytes for it in old))}"),
            *(("", it.path) for it in old),
        ]
        if young:
            rows.append(("too young", plural(young, "path")))
        return lines(rows if self.applied else [*rows, NOT_DONE])


def vacuum(
    path: str,
    waste: Sequence[str],
    *,
    older_than_hours: float = 24,
    dry_run: bool = True,
    spark: SparkSession | None = None,
) -> Vacuum:
    """Deletes what `fsck` has found orphaned or unreferenced; the query may be running.

    Files that retention deletes, in time, are not its business.

    Args:
        path: the checkpoint.
        waste: paths of the findings.
        older_than_hours: what has changed since may belong to a batch that is not committed yet.
        dry_run: only say what would be deleted.
        spark: session to work in; by default the active one, or one of its own.

    Raises:
        ClassicSessionError: the session is one of Spark Connect.
        JvmError: something of it is in use; nothing was deleted.
    """
    command = bridge.command_line(
        "vacuum", path, older_than_hours=older_than_hours, apply=not dry_run
    )
    prefix = path.rstrip("/") + "/"
    found = bridge.answer(
        "vacuum",
        path,
        "\n".join(it.removeprefix(prefix) for it in waste),
        int(older_than_hours * _HOUR_MS),
        dry_run,
        command=command,
        spark=spark,
    )
    return Vacuum.of(found)
