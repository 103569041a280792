"""One thing that a set-up needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
