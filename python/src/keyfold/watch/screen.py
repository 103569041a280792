"""A checkpoint on the screen of a terminal, which is drawn again and again."""

from __future__ import annotations

import time

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from keyfold.errors import KeyfoldError
from keyfold.text.printable import printable
from keyfold.text.units import duration
from keyfold.watch.look import RECENT, Look
from keyfold.watch.loop import Looks
from keyfold.watch.words import (
    Rows,
    batch_rows,
    failed,
    group_rows,
    headline,
    hot_title,
    operator_rows,
    pace,
    partition_rows,
)

# Ages count up between looks.
_DRAWN_A_SECOND = 2
_HEAVIEST = 5
# Lines but those of batches, operators and messages.
_LINES = 17


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

    def render(self, now_ms: int, height: int) -> RenderableType:
        """The text at a time, at most `height` lines if there is room for one batch."""
        look, error = self._look, self._error
        messages = [failed(error, self._interval)] if error else []
        if look is None:
            return Group(*(_text(it, "red") for it in messages or ["looking ..."]))
        notes = [look.note] if look.note else []
        messages += look.problems
        room = height - _LINES - len(look.operators) - len(notes) - 2 * len(messages)
        parts: list[RenderableType] = [
            _text(look.path, "bold"),
            _text(f"query {look.query_id or 'not known'}"),
            _text(headline(look, now_ms)),
        ]
        if look.last is not None:
            side = Table.grid(padding=(0, 4, 0, 0), pad_edge=False)
            side.add_row(
                Text("heaviest partitions", "bold"),
                Text(hot_title(look), "bold"),
            )
            side.add_row(
                _table(partition_rows(look, _HEAVIEST), 1), _table(group_rows(look, _HEAVIEST), 1)
            )
            parts += [
                _text(pace(look)),
                Text(),
                _table(batch_rows(look, min(max(room, 1), RECENT))),
                Text(),
                _table(operator_rows(look)),
                Text(),
                side,
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
        return screen.render(int(time.time() * 1000), console.height)

    with Live(
        get_renderable=draw,
        console=console,
        refresh_per_second=_DRAWN_A_SECOND,
        vertical_overflow="crop",
    ) as live:
        for seen in looks:
            screen.add(seen)
            live.refresh()


def _table(rows: Rows, gap: int = 2) -> Table:
    """A grid; all columns but the first are of numbers."""
    names, *others = rows
    grid = Table(box=None, padding=(0, gap, 0, 0), header_style="dim", pad_edge=False)
    for index, name in enumerate(names):
        # Names of operators may be long: they are folded before numbers are cut.
        grid.add_column(
            name, justify="right" if index else "left", no_wrap=index > 0, overflow="fold"
        )
    for row in others:
        grid.add_row(*map(_text, row))
    return grid


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style)
