"""A description as HTML for a notebook: self-contained, no script, everything escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from keyfold.report_lines import heading, summary, table

if TYPE_CHECKING:
    from keyfold.description import Description, OperatorDescription


def render(it: Description) -> str:
    """The report as one `div`."""
    parts = [
        _table(f"<tr>{_cell('th', label)}{_cell('td', text)}</tr>" for label, text in summary(it))
    ]
    for operator in it.operators:
        parts += [f"<h4>{escape(heading(operator))}</h4>", _stores(operator)]
    if it.problems:
        items = "".join(
            f"<li><b>{escape(problem.condition)}</b> {escape(problem.path)}: "
            f"{escape(problem.message)}</li>"
            for problem in it.problems
        )
        parts.append(f"<h4>Problems</h4><ul>{items}</ul>")
    return f"<div>{''.join(parts)}</div>"


def _stores(operator: OperatorDescription) -> str:
    names, *rows = table(operator)
    return _table([_row("th", names), *(_row("td", row) for row in rows)])


def _table(rows: Iterable[str]) -> str:
    return f"<table>{''.join(rows)}</table>"


def _row(tag: str, texts: Iterable[str]) -> str:
    return f"<tr>{''.join(_cell(tag, text) for text in texts)}</tr>"


def _cell(tag: str, text: str) -> str:
    return f'<{tag} style="text-align:left">{escape(text)}</{tag}>'
