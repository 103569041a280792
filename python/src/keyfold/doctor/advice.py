"""One piece of advice."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

CHANGE, NOTE = "change", "note"

# docs/tutorial.md, in its own words: a plan says what can be carried over.
WITHOUT_STATE = (
    "A new location begins without this state. `keyfold evolve` may carry it over "
    '(docs/tutorial.md, "Change the query"): its plan says so.'
)


@dataclass(frozen=True)
class Advice:
    """What was measured, what to change, and what that brings.

    `name` is stable: docs/doctor.md lists all of them. `command` is the command of `change`, with
    which it begins; None if the change is in the query or its settings. `operator` is the number of
    the operator that it is about; None if it is about the whole query. `rank` is "note" where it
    may be right to change nothing.
    """

    name: str
    measured: str
    change: str
    brings: str
    command: str | None = None
    operator: int | None = None
    rank: str = CHANGE

    def to_dict(self) -> dict[str, Any]:
        """The same as values for JSON."""
        return asdict(self)
