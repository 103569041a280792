"""Results of a check."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from html import escape
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.fsck.verdict import Verdict
from keyfold.spark_log.migrated import Earlier
from keyfold.text.html_table import html_table
from keyfold.text.printable import printable
from keyfold.text.units import plural


class Kind(Enum):
    """The kind of a problem."""

    METADATA = "metadata"  # a file of Spark's own cannot be read
    MISSING = "missing"  # a file that a retained batch needs is not there
    TRUNCATED = "truncated"  # a file is shorter than it says
    CHECKSUM = "checksum"  # a checksum does not match
    FOOTER = "footer"  # a footer is invalid
    FOREIGN = "foreign"  # a file of another program has one of Keyfold's names
    NEWER_FORMAT = "newer-format"  # a file needs a newer release
    MISPLACED = "misplaced"  # a file's identity is not that of its name or folder
    LINEAGE = "lineage"  # a file builds on a version that it cannot build on
    VERSION_GAP = "version-gap"  # batches between retained ones are missing from the commit log
    KEY_GROUPS = "key-groups"  # files differ in their number of key groups
    PARTITIONS = "partitions"  # files and query differ in their number of partitions
    WRONG_PARTITION = "wrong-partition"  # a row lies in a partition that it does not belong to
    HASH = "hash"  # a row's hash is not that of its key
    ROW = "row"  # a row does not fit its schema
    COUNT = "count"  # a version's number of rows is not the one in its head
    ORPHAN = "orphan"  # a file or folder belongs to no store of the query
    UNREFERENCED = "unreferenced"  # an attempt's file that no retained batch builds on
    REPLACED = "replaced"  # a snapshot of a version that was replaced later
    EXPIRED = "expired"  # retention has deleted a batch that the commit log still has


_COLUMNS = ("kind", "severity", "path", "message")
# Findings that a vacuum may delete.
UNREFERENCED_KINDS = frozenset({Kind.ORPHAN, Kind.UNREFERENCED})
# Findings that lose no state which the query needs.
HARMLESS = UNREFERENCED_KINDS | {Kind.REPLACED, Kind.EXPIRED}


class Severity(Enum):
    """What a problem does to the query."""

    STOPS = "stops-query"  # the query cannot start
    LOSES = "loses-batch"  # it can, but not go back to some retained batch
    SPARE = "spare"  # other files have the same rows, or Spark writes it again
    HARMLESS = "harmless"  # nothing is lost


@dataclass(frozen=True)
class Finding:
    """One problem. `path` is the file or folder as users write it."""

    kind: Kind
    path: str
    message: str
    severity: Severity = Severity.LOSES

    def __post_init__(self) -> None:
        """What is no damage does no harm."""
        if not self.is_damage:
            object.__setattr__(self, "severity", Severity.HARMLESS)

    @property
    def is_damage(self) -> bool:
        """Whether state is lost or wrong, other than by retention."""
        return self.kind not in HARMLESS

    def to_dict(self) -> dict[str, str]:
        """Its values as texts."""
        return {
            "kind": self.kind.value,
            "severity": self.severity.value,
            "path": self.path,
            "message": self.message,
        }


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
