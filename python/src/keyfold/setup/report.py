"""What a check of a set-up finds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from keyfold.setup.facts import ExecutorFacts
from keyfold.text.html_table import html_table
from keyfold.text.printable import printable
from keyfold.text.units import plural

_LABEL = 20


@dataclass(frozen=True)
class SetupFinding:
    """What is, and what to change if it is wrong; `remedy` is None if it is right."""

    name: str
    value: str
    remedy: str | None = None

    @property
    def ok(self) -> bool:
        """Whether it is right."""
        return self.remedy is None

    def to_dict(self) -> dict[str, Any]:
        """The same as values for JSON."""
        return {"name": self.name, "ok": self.ok, "value": self.value, "remedy": self.remedy}


@dataclass(frozen=True)
class SetupReport:
    """A finding for each thing that a set-up needs, and what each executor has said of itself.

    `executors` is empty if they were not asked, as the driver was not set up for it.
    """

    findings: tuple[SetupFinding, ...]
    executors: tuple[ExecutorFacts, ...]

    @property
    def ok(self) -> bool:
        """Whether all is right."""
        return all(it.ok for it in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The same as values for JSON."""
        return {
            "ok": self.ok,
            "findings": [it.to_dict() for it in self.findings],
            "executors": [asdict(it) for it in self.executors],
        }

    def __str__(self) -> str:
        """A line for each finding, below it what to change, and how many are wrong."""
        lines = []
        for it in self.findings:
            lines.append(f"{'ok' if it.ok else 'WRONG':<7}{it.name:<{_LABEL}}{it.value}")
            if it.remedy is not None:
                lines.append(f"{'':<7}{'to change':<{_LABEL}}{it.remedy}")
        return printable("\n".join([*lines, self._verdict()]))

    def _repr_html_(self) -> str:
        rows = [
            ["ok" if it.ok else "WRONG", it.name, it.value, it.remedy or ""] for it in self.findings
        ]
        table = html_table(("", "name", "value", "to change"), rows)
        return f"<div><p>{self._verdict()}</p>{table}</div>"

    def _verdict(self) -> str:
        wrong = sum(not it.ok for it in self.findings)
        if not wrong:
            return "Keyfold is set up rightly."
        return f"{wrong} of {plural(len(self.findings), 'finding')} to change."
