"""Results of operations as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from keyfold.text.printable import printable

_LABEL = 13

NOT_DONE = ("not done", "this is a plan; pass --apply, or dry_run=False")
"""The last line of a plan."""


def lines(rows: Iterable[tuple[str, str]]) -> str:
    """A line for each label and text."""
    return printable("\n".join(f"{label:<{_LABEL}}{text}" for label, text in rows))
