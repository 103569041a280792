"""The result of an examination: advice, and what it was given on."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from keyfold.text.html_table import html_table
from keyfold.text.printable import printable
from keyfold.text.units import plural

CHANGE, NOTE = "change", "note"

# docs/tutorial.md, in its own words: a plan says what can be carried over.
WITHOUT_STATE = (
    "A new location begins without this state. `keyfold evolve` may carry it over "
    '(docs/tutorial.md, "Change the query"): its plan says so.'
)

_WIDTH = 80
_LABEL = 12


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


@dataclass(frozen=True)
class DoctorReport:
    """Advice about a checkpoint, what it was given on, and what could not be judged.

    `facts` are a label and a text each. `memory_bytes` is the memory in which all of the state
    would be, in all executors together, by the formula of Sizing; None if it is not known.
    """

    path: str
    advice: tuple[Advice, ...]
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    memory_bytes: int | None

    @property
    def ok(self) -> bool:
        """Whether there is nothing to change; there may be something to know."""
        return not self._of(CHANGE)

    def _of(self, rank: str) -> list[Advice]:
        return [it for it in self.advice if it.rank == rank]

    def to_dict(self) -> dict[str, Any]:
        """The same as values for JSON."""
        return asdict(self) | {"ok": self.ok, "facts": dict(self.facts)}

    def __str__(self) -> str:
        """The facts, the advice, and how much of it; 80 columns, but for paths and commands."""
        lines = [printable(self.path), *(line for it in self.facts for line in _entry(*it))]
        for heading, rank in ((), CHANGE), (("", "To know"), NOTE):
            found = self._of(rank)
            lines += heading if found else ()
            for it in found:
                lines += ["", it.name, *(line for row in _rows(it) for line in _entry(*row))]
        lines += ["", *(line for it in self.notes for line in _wrapped(it)), self._verdict()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        facts = "".join(f"<p>{escape(f'{label}: {text}')}</p>" for label, text in self.facts)
        rows = [
            [
                it.name if it.rank == CHANGE else f"to know: {it.name}",
                it.measured,
                " ".join(filter(None, (it.change, it.command))),
                it.brings,
            ]
            for it in (*self._of(CHANGE), *self._of(NOTE))
        ]
        found = html_table(("advice", "measured", "to change", "brings"), rows) if rows else ""
        notes = "".join(f"<p>{escape(it)}</p>" for it in (*self.notes, self._verdict()))
        return f"<div><p>{escape(printable(self.path))}</p>{facts}{found}{notes}</div>"

    def _verdict(self) -> str:
        if self.ok:
            return "Nothing to change."
        return f"{plural(len(self._of(CHANGE)), 'thing')} to change."


def _rows(it: Advice) -> list[tuple[str, str]]:
    command = [] if it.command is None else [("", it.command)]
    return [("measured", it.measured), ("to change", it.change), *command, ("brings", it.brings)]


def _entry(label: str, text: str) -> list[str]:
    """A label and its text; a command, which has no label, on one line, to be copied."""
    shown = printable(text)
    first, *more = _wrapped(shown, _WIDTH - _LABEL - 2) if label else [shown]
    return [f"  {label:<{_LABEL}}{first}", *(" " * (_LABEL + 2) + line for line in more)]


def _wrapped(text: str, width: int = _WIDTH) -> list[str]:
    found = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return found or [""]
