"""A table as HTML, everything in it escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A `table` with a heading."""
    body = "".join(_row("td", row) for row in rows)
    return f"<table><thead>{_row('th', names)}</thead><tbody>{body}</tbody></table>"


def _row(tag: str, texts: Sequence[str]) -> str:
    cells = "".join(f'<{tag} style="text-align:left">{escape(text)}</{tag}>' for text in texts)
    return f"<tr>{cells}</tr>"
