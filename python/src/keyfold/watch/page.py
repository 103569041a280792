"""A look as HTML for a notebook's cell, with plots where Matplotlib is installed."""

from __future__ import annotations

import sys
from html import escape
from importlib import import_module
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.report import pictures
from keyfold.report.figure import is_installed
from keyfold.report.growth import Size
from keyfold.text.html_table import html_table
from keyfold.text.printable import printable
from keyfold.text.units import moment
from keyfold.watch import words
from keyfold.watch.batch import WatchedBatch
from keyfold.watch.look import Look
from keyfold.watch.loop import Looks
from keyfold.watch.words import Rows

_ROWS = 5
_PARTITIONS = pa.schema([("partition", pa.int64()), ("live_bytes", pa.int64())])


def page(look: Look, drawn: str, message: str) -> str:
    """One `div`: text and tables, plots as `plots` has drawn them, and a message at the end."""
    parts = [
        f"<b>{escape(printable(look.path))}</b>, query {escape(look.query_id or 'not known')}",
        escape(words.headline(look, look.looked_ms)),
    ]
    if look.last is not None:
        parts += [escape(words.pace(look)), _table(words.operator_rows(look)), drawn, _skew(look)]
    notes = ([look.note] if look.note else []) + list(look.problems) + [message]
    parts += [escape(printable(it)) for it in notes if it]
    parts.append(f"Looked at {moment(look.looked_ms)}")
    return f'<div style="max-width:1060px">{"".join(f"<div>{it}</div>" for it in parts)}</div>'


def plots(look: Look) -> str:
    """Batches, state and skew; nothing without Matplotlib, or before the first batch."""
    if look.last is None or not is_installed():
        return ""
    shown = [("Batches", _durations(look))]
    sizes = _sizes(look)
    if sizes:
        shown.append(("State", pictures.growth(sizes)))
    if look.partitions:
        shown.append(("Skew", _spread(look)))
    return "".join(f"<h4>{title}</h4>{svg}" for title, svg in shown)


def _durations(look: Look) -> str:
    batches = [
        {"batch_id": it.batch_id, "started_ms": it.started_ms, "duration_ms": it.duration_ms}
        for it in look.batches
    ]
    written = {it.batch_id: it.last_state_ms for it in look.batches if it.last_state_ms is not None}
    return pictures.durations(batches, written)


def _sizes(look: Look) -> list[Size]:
    """The state after each batch whose heads say all of it."""
    found = []
    for batch in look.batches:
        for it in batch.operators if batch.rows is not None else ():
            if it.rows is not None and it.live_bytes is not None:
                name = printable(f"{it.id} {it.name}")
                found.append(Size(batch.batch_id, name, it.rows, it.live_bytes))
    return found


def _spread(look: Look) -> str:
    partitions = [
        {"partition": it.partition, "live_bytes": it.live_bytes} for it in look.partitions
    ]
    operator, partition, key_group, _, size = look.groups
    groups = pa.table(
        {"operator": operator, "partition": partition, "key_group": key_group, "bytes": size}
    )
    return pictures.spread(
        pa.Table.from_pylist(partitions, _PARTITIONS),
        groups,
        f"bytes of changed rows, {words.recent(look)}",
    )


def _skew(look: Look) -> str:
    tables = [
        ("Heaviest partitions", words.partition_rows(look, _ROWS)),
        (words.hot_title(look).capitalize(), words.group_rows(look, _ROWS)),
    ]
    cells = "".join(f"<div><h4>{name}</h4>{_table(rows)}</div>" for name, rows in tables)
    return f'<div style="display:flex;flex-wrap:wrap;column-gap:60px">{cells}</div>'


def _table(rows: Rows) -> str:
    names, *others = rows
    shown = [[printable(it) for it in row] for row in others]
    return html_table(names, shown, right=range(1, len(names)))


def is_notebook() -> bool:
    """Whether this is the kernel of a notebook, whose cells show HTML."""
    # A kernel has imported it; IPython in a terminal has no kernel.
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


def show_in_cell(looks: Looks) -> None:
    """Shows the looks in one output of the cell until they end; the last one stays there."""
    display: Any = import_module("IPython.display")
    handle = display.display(display.HTML("looking ..."), display_id=True)
    look: Look | None = None
    drawn: tuple[tuple[WatchedBatch, ...], str] = ((), "")
    for seen in looks:
        message = ""
        if isinstance(seen, Look):
            look = seen
        else:
            message = words.failed(seen, looks.interval)
        look = look or Look(looks.path)
        if look.batches != drawn[0]:
            drawn = look.batches, plots(look)
        handle.update(display.HTML(page(look, drawn[1], message)))
