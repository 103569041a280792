"""A checkpoint on the screen of a terminal, which is drawn again and again."""

from __future__ import annotations

import time

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from keyfold.errors import KeyfoldError
from keyfold.text.printable import printable
from keyfold.text.units import duration
from keyfold.watch import words
from keyfold.watch.look import RECENT, Look
from keyfold.watch.loop import Looks
from keyfold.watch.words import Rows

# Ages count up between looks.
_DRAWN_A_SECOND = 2
_HEAVIEST = 5
# Lines but those of batches, operators and messages.
_LINES = 17
# Between two tables that are side by side.
_APART = 4
# Names of operators are folded to no less.
_LEAST_NAME = 16
# What a narrow terminal leaves out of each table, first of all the first.
_DISPENSABLE = {
    "batch": ("commit", "began (UTC)", "written", "state", "changes", "rows"),
    "operator": ("partitions", "snapshot age", "on disk", "state"),
    "partition": ("rows", "state"),
    "key group": ("changes", "bytes"),
}


class Screen:
    """What the looks have seen so far, as text of a height."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._look: Look | None = None
        self._error: KeyfoldError | None = None

    def add(self, seen: Look | KeyfoldError) -> None:
        """The newest look."""
        if isinstance(seen, Look):
            self._look, self._error = seen, None
        else:
            self._error = seen

    def render(self, now_ms: int, width: int, height: int) -> RenderableType:
        """The text at a time, at most `height` lines if there is room for one batch.

        Tables have the columns for which there is room in `width`.
        """
        look, error = self._look, self._error
        messages = [words.failed(error, self._interval)] if error else []
        if look is None:
            return Group(*(_text(it, "red") for it in messages or ["looking ..."]))
        notes = [look.note] if look.note else []
        messages += look.problems
        room = height - _LINES - len(look.operators) - len(notes) - 2 * len(messages)
        parts: list[RenderableType] = [
            _text(look.path, "bold"),
            _text(f"query {look.query_id or 'not known'}"),
            _text(words.headline(look, now_ms)),
        ]
        if look.last is not None:
            batches = words.batch_rows(look, min(max(room, 1), RECENT))
            parts += [
                _text(words.pace(look)),
                Text(),
                _table(_fitting(batches, width)),
                Text(),
                _table(_fitting(words.operator_rows(look), width)),
                Text(),
                _side(look, width),
            ]
        parts += [_text(it, "yellow") for it in notes]
        parts += [_text(it, "red") for it in messages]
        looked = duration(max(now_ms - look.looked_ms, 0))
        parts.append(_text(f"looked {looked} ago, every {self._interval:g} s; Ctrl-C ends", "dim"))
        return Group(*parts)


def show(looks: Looks, console: Console) -> None:
    """Draws the looks on a terminal until they end; the last picture stays there."""
    screen = Screen(looks.interval)

    def draw() -> RenderableType:
        return screen.render(int(time.time() * 1000), console.width, console.height)

    with Live(
        get_renderable=draw,
        console=console,
        refresh_per_second=_DRAWN_A_SECOND,
        vertical_overflow="crop",
    ) as live:
        for seen in looks:
            screen.add(seen)
            live.refresh()


def _side(look: Look, width: int) -> Table:
    """The heaviest partitions, and the hottest key groups beside them if there is room."""
    left, right = words.partition_rows(look, _HEAVIEST), words.group_rows(look, _HEAVIEST)
    heading = "heaviest partitions"
    while (least := max(len(heading), _width(left, 1))) + _APART + _width(right, 1) > width:
        fewer = _without_one(left), _without_one(right)
        if fewer == (left, right):
            break
        left, right = fewer
    else:
        side = Table.grid(padding=(0, _APART, 0, 0), pad_edge=False)
        side.add_column(min_width=least)
        side.add_column(max_width=width - least - _APART)
        titles = heading, words.hot_title(look)
        side.add_row(*(Text(it, "bold", no_wrap=True, overflow="ellipsis") for it in titles))
        side.add_row(_table(left, 1), _table(right, 1))
        return side
    return _table(_fitting(words.partition_rows(look, _HEAVIEST), width, 1), 1)


def _fitting(rows: Rows, width: int, gap: int = 2) -> Rows:
    """A table without the columns for which there is no room, as far as it can do without."""
    while _width(rows, gap) > width:
        fewer = _without_one(rows)
        if fewer == rows:
            break
        rows = fewer
    return rows


def _without_one(rows: Rows) -> Rows:
    """Without the column that is needed least; the same if all are needed."""
    names = rows[0]
    for name in _DISPENSABLE[names[0]]:
        if name in names:
            at = names.index(name)
            return [row[:at] + row[at + 1 :] for row in rows]
    return rows


def _width(rows: Rows, gap: int) -> int:
    """Columns of the terminal that a table needs for its numbers, and the most of its names."""
    widths = [max(map(cell_len, map(printable, column))) for column in zip(*rows, strict=True)]
    return min(widths[0], _LEAST_NAME) + sum(widths[1:]) + gap * (len(widths) - 1)


def _table(rows: Rows, gap: int = 2) -> Table:
    """A grid; all columns but the first are of numbers."""
    names, *others = rows
    grid = Table(box=None, padding=(0, gap, 0, 0), header_style="dim", pad_edge=False)
    # Names of operators may be long: they are folded before numbers are cut, with a mark.
    widest = max(cell_len(printable(row[0])) for row in rows)
    least = min(widest, _LEAST_NAME)
    grid.add_column(names[0], overflow="fold", no_wrap=widest <= _LEAST_NAME, min_width=least)
    for name in names[1:]:
        grid.add_column(name, justify="right", no_wrap=True, overflow="ellipsis")
    for row in others:
        grid.add_row(*map(_text, row))
    return grid


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style)
