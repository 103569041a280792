"""A description as text for a terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from keyfold.describe.report_lines import heading, notes, summary, table
from keyfold.describe.values import CheckpointValues, OperatorDescription
from keyfold.text.printable import printable

_WIDTH = 80


def plain(it: CheckpointValues) -> str:
    """The report, 80 columns wide, without colours or trailing spaces."""
    console = Console(file=StringIO(), width=_WIDTH, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(render(it))
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def render(it: CheckpointValues) -> RenderableType:
    """The report for a rich console."""
    lines = Table.grid(padding=(0, 2))
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column(overflow="fold")
    for label, text in summary(it):
        lines.add_row(Text(label), _text(text))
    parts: list[RenderableType] = [lines]
    for operator in it.operators:
        parts += [Text(), _text(heading(operator), style="bold")]
        parts += [*map(_text, notes(operator)), _grid(operator)]
    if it.problems:
        parts += [Text(), Text("Problems", style="bold red")]
    parts += [
        _text(f"- {problem.condition} {problem.path}: {problem.message}") for problem in it.problems
    ]
    return Group(*parts)


def _grid(operator: OperatorDescription) -> Table:
    names, *rows = table(operator)
    grid = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    for index, name in enumerate(names):
        grid.add_column(name, justify="right" if index else "left", overflow="fold")
    for row in rows:
        grid.add_row(*map(_text, row))
    return grid


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style)
