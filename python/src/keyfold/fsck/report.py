"""The result of a check: findings, whether the query can start, how to go back if it cannot."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.fsck.finding import Finding, Obstacle
from keyfold.spark_log.migrated import Earlier
from keyfold.storage.storage import Storage
from keyfold.text.html_table import html_table
from keyfold.text.printable import printable
from keyfold.text.units import plural

_COLUMNS = ("kind", "severity", "path", "message")


@dataclass(frozen=True)
class Verdict:
    """Whether a query can start from its checkpoint.

    Attributes:
        can_start: whether all that Spark needs for its next batch is there and undamaged.
        last_batch: the last committed batch; None if there is none.
        newest_good: the newest batch to go back to, whose state is whole in every partition; None
            if there is none.
        lost: how many retained batches cannot be gone back to any more.
        command: the command line that mends it; None if the query can start, or if there is none.
        reason: why it cannot start; empty if it can.
        deletes: files to delete first, which the query writes again.
        way: what the command does, and what comes of it.
        otherwise: what mends it without any of this.
        has_state: whether the checkpoint has the state of any operator.
    """

    can_start: bool
    last_batch: int | None
    newest_good: int | None
    lost: int
    command: str | None
    reason: str = ""
    deletes: tuple[str, ...] = ()
    way: str = ""
    otherwise: str = ""
    has_state: bool = True

    def __str__(self) -> str:
        """Sentences for a terminal."""
        if not self.can_start:
            return self._remedy()
        if self.last_batch is None:
            return "No batch is committed yet."
        if not self.has_state:
            return (
                "The query can start if it keeps no state: the checkpoint has none. If it keeps "
                "state, the folder state is lost. Restore it from a copy, or start with a new "
                "checkpoint location: no batch is left to go back to."
            )
        older = "1 older batch" if self.lost == 1 else f"{self.lost:,} older batches"
        lost = f"; {older} cannot be loaded" if self.lost else ""
        return f"The query can start: batch {self.last_batch}, its last, is whole{lost}."

    def _remedy(self) -> str:
        reason, otherwise = (f"{it[0].upper()}{it[1:]}" for it in (self.reason, self.otherwise))
        lines = [
            f"{reason}: the query cannot start, or would go on with wrong rows. {otherwise}, or"
        ]
        if not self.way:
            end = "start with a new checkpoint location: no batch is left to go back to."
            return f"{lines[0]} {end}"
        if self.deletes:
            lines[0] += " delete these files, which the query writes again:"
            lines += [*self.deletes, "Then"]
        lines[-1] += f" {self.way}"
        return "\n".join([*lines, self.command] if self.command else lines)


def verdict(  # noqa: PLR0913 - all but the first two by name
    storage: Storage,
    last: int | None,
    *,
    batches: list[int],
    bad: set[int],
    obstacles: list[Obstacle],
    migrated: tuple[int, str] | None,
    has_state: bool,
) -> Verdict:
    """The verdict.

    Args:
        storage: the checkpoint.
        last: the last committed batch.
        batches: committed batches.
        bad: those that cannot be gone back to.
        obstacles: what keeps the query from starting.
        migrated: the last batch before a migration that can be undone, and its provider.
        has_state: whether the checkpoint has the state of any operator.
    """
    lost = len(bad)
    limits = [it.newest for it in obstacles if it.newest is not None]
    good = [it for it in batches if it not in bad and it <= min(limits, default=it)]
    newest = max(good, default=None)
    if not obstacles:
        return Verdict(True, last, newest, lost, None, has_state=has_state)  # noqa: FBT003 - it can start
    reason = ", and ".join(dict.fromkeys(it.reason for it in obstacles))
    deletes = tuple(storage.full_path(path) for it in obstacles for path in it.deletes)
    words: list[str] | None = None
    if any(it.undoes_rescale for it in obstacles):
        words, deletes, way = ["rescale", storage.root, "--undo"], (), "undo that rescale:"
    elif not limits:
        way = "start the query."
    elif newest is not None:
        words = ["rollback", storage.root, "--to-batch", str(newest)]
        way = (
            f"go back to batch {newest}, the newest that is whole in all partitions. Later batches "
            "are computed again, and the sink gets their rows again. If it is a file sink, add "
            "--sink-path with its folder:"
        )
    elif migrated is not None and migrated[0] <= min(limits):
        words = ["migrate", storage.root, "--undo"]
        way = f"undo the migration: the query goes on after batch {migrated[0]} with {migrated[1]}:"
    else:
        way = ""
    sets = dict.fromkeys(it.sets for it in obstacles if it.sets)
    if way and sets:
        way = f"set {' and '.join(sets)} for the next start, and {way}"
    command = None if words is None else shlex.join(["keyfold", *words, "--apply"])
    otherwise = " and ".join(dict.fromkeys(it.otherwise for it in obstacles))
    return Verdict(False, last, newest, lost, command, reason, deletes, way, otherwise)  # noqa: FBT003


@dataclass(frozen=True)
class FsckReport:
    """What was checked, the findings, the worst first, and what they come to.

    `earlier_batches`, before a migration, were not checked: they belong to another provider.
    """

    path: str
    deep: bool
    batches: int
    files: int
    bytes: int
    findings: tuple[Finding, ...]
    verdict: Verdict
    earlier_batches: Earlier | None = None

    @property
    def ok(self) -> bool:
        """Whether there is no damage."""
        return not any(finding.is_damage for finding in self.findings)

    def to_arrow(self) -> pa.Table:
        """A row for each finding."""
        schema = pa.schema([(name, pa.string()) for name in _COLUMNS])
        return pa.Table.from_pylist([it.to_dict() for it in self.findings], schema)

    def to_dict(self) -> dict[str, Any]:
        """The same as values for JSON."""
        found = [it.to_dict() for it in self.findings]
        return asdict(self) | {"findings": found, "ok": self.ok}

    def __str__(self) -> str:
        """The numbers of files and batches, a line for each finding, and the verdict."""
        lines = [
            f"{it.kind.value} ({it.severity.value}): {it.path}: {it.message}"
            for it in self.findings
        ]
        return printable("\n".join([self._headline(), *lines, str(self.verdict)]))

    def _repr_html_(self) -> str:
        rows = [list(it.to_dict().values()) for it in self.findings]
        found = html_table(_COLUMNS, rows) if rows else ""
        said = f"<p>{escape(self._headline())}</p>{found}<p>{escape(str(self.verdict))}</p>"
        return f"<div>{said}</div>"

    def _headline(self) -> str:
        looked = f"{self.files:,} files of {self.batches:,} batches, {self.bytes:,} bytes"
        if self.earlier_batches:
            looked += f" ({self.earlier_batches}: not looked at)"
        found = plural(len(self.findings), "finding") if self.findings else "nothing wrong"
        return f"{self.path}: {looked}, {found}"
