"""A description as HTML for a notebook: self-contained, no script, everything escaped."""

from __future__ import annotations

from html import escape

from keyfold.describe.report_lines import heading, notes, summary, table
from keyfold.describe.values import CheckpointValues
from keyfold.text.html_table import html_table


def render(it: CheckpointValues) -> str:
    """The report as one `div`."""
    parts = [f"<table>{''.join(_line(*line) for line in summary(it))}</table>"]
    for operator in it.operators:
        parts.append(f"<h4>{escape(heading(operator))}</h4>")
        parts += [f"<p>{escape(note)}</p>" for note in notes(operator)]
        names, *rows = table(operator)
        parts.append(html_table(names, rows, right=range(1, len(names))))
    if it.problems:
        items = "".join(
            f"<li><b>{escape(problem.condition)}</b> {escape(problem.path)}: "
            f"{escape(problem.message)}</li>"
            for problem in it.problems
        )
        parts.append(f"<h4>Problems</h4><ul>{items}</ul>")
    return f"<div>{''.join(parts)}</div>"


def _line(label: str, text: str) -> str:
    left = 'style="text-align:left"'
    return f"<tr><th {left}>{escape(label)}</th><td {left}>{escape(text)}</td></tr>"
