"""The result of a check."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.fsck.finding import Finding
from keyfold.fsck.verdict import Verdict
from keyfold.spark_log.migrated import Earlier
from keyfold.text.html_table import html_table
from keyfold.text.printable import printable
from keyfold.text.units import plural

_COLUMNS = ("kind", "severity", "path", "message")


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
