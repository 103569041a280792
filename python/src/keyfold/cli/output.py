"""How results are written: data on stdout, as text or JSON; messages and progress on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]
from rich.console import Console, JustifyMethod, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from keyfold.table.column import flattened
from keyfold.text.arrow_values import to_pylist, to_python
from keyfold.text.json_text import json_text
from keyfold.text.printable import printable

_WIDE = 10_000
# The whole grid is laid out at once, which takes a millisecond per row.
_MOST_ROWS = 1_000


class JsonOutput:
    """Results as JSON on stdout."""

    def value(self, found: dict[str, Any], _shown: RenderableType) -> None:
        """One result, as an object."""
        sys.stdout.write(json_text(found) + "\n")

    def table(self, tables: Iterable[pa.Table]) -> None:
        """Rows, one object per line, written as soon as it is read."""
        for part in tables:
            for row in to_pylist(part):
                sys.stdout.write(json_text(row) + "\n")


class TextOutput:
    """Results as text on stdout."""

    def __init__(self) -> None:
        # Output to a pipe is not cut to the width of a terminal.
        self._console = Console(width=None if sys.stdout.isatty() else _WIDE, highlight=False)

    def value(self, _found: dict[str, Any], shown: RenderableType) -> None:
        """One result, as text for a terminal."""
        if isinstance(shown, str):
            # It must not be taken as markup, and a command in it is copied as one line.
            self._console.print(_text(shown), soft_wrap=True)
        else:
            self._console.print(shown)

    def table(self, tables: Iterable[pa.Table]) -> None:
        """A grid of the first thousand rows, a column for each field of a struct."""
        grid = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        for part in map(flattened, tables):
            if not grid.columns:
                _add_columns(grid, part.schema)
            shown = part.slice(0, _MOST_ROWS - grid.row_count)
            for row in zip(*map(to_python, shown.columns), strict=True):
                grid.add_row(*(_text(_cell(value)) for value in row))
            if len(shown) < len(part):
                message(f"The first {_MOST_ROWS:,} rows; -o json prints all.")
                break
        self._console.print(grid)


Output: TypeAlias = JsonOutput | TextOutput


def message(text: str) -> None:
    """A line on stderr."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(_text(text))


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on stderr; None if stderr is not a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def _add_columns(grid: Table, schema: pa.Schema) -> None:
    for field in schema:
        numeric = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        justify: JustifyMethod = "right" if numeric else "left"
        grid.add_column(_text(field.name), justify=justify, overflow="fold")


def _text(text: str) -> Text:
    return Text(printable(text))


def _cell(value: Any) -> str:  # noqa: ANN401 - whatever a column holds
    if value is None:
        return "null"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return str(value)
