"""What a write would change in a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from keyfold.layout.layout import Layout, Shape
from keyfold.table.changes import Change, diff_schema
from keyfold.table.state_table import StateTable
from keyfold.text.arrow_values import to_pylist

ROW_KEY = ("key", "user_map_key", "expiration_timestamp_ms")
"""Columns that name a row: of maps and of timers a second one."""
_MOST_LOOK_UPS = 100

_Row = dict[str, Any]


def written_name(layout: Layout) -> str:
    """The name by which a table is written: its family's, or its own if it is of several."""
    return layout.name if layout.shape in {Shape.JOIN_SIDE, Shape.TIMERS} else layout.family


def edits(
    table: StateTable, put: pa.Table | None, delete: pa.Table | None, *, replace: bool = False
) -> pa.Table:
    """The rows that would be inserted, updated and deleted.

    A few keys are looked up; for more, all rows are read.

    Args:
        table: the table.
        put: rows to put, with the table's columns.
        delete: keys of rows to delete.
        replace: whether all rows that are not put are deleted.

    Returns:
        Columns as those of `StateTable.diff`.
    """
    names = table.schema.names
    new = _by_key(put, names)
    gone = _by_key(delete, names)
    if replace or len(new) + len(gone) > _MOST_LOOK_UPS:
        old = _by_key(table.scan().to_arrow(), names)
    else:
        keys = {repr(its[0]["key"]): its[0]["key"] for its in (*new.values(), *gone.values())}
        found = list(map(table.get, keys.values()))
        old = _by_key(pa.concat_tables(found) if found else None, names)
    every = old if replace else gone
    shown = diff_schema(table.schema)
    changes = [
        _change(shown, *change)
        for key in {**new, **every}
        for change in changes_of(old.get(key, []), new.get(key, []))
    ]
    return pa.Table.from_pylist(changes, shown)


def _by_key(rows: pa.Table | None, names: list[str]) -> dict[str, list[_Row]]:
    """Rows of each key, with those of their columns that are shown."""
    every: dict[str, list[_Row]] = {}
    for row in [] if rows is None else to_pylist(rows):
        shown = {name: it for name, it in row.items() if name in names}
        key = [shown[it] for it in ROW_KEY if it in shown]
        every.setdefault(repr(key), []).append(shown)
    return every


def changes_of(
    old: list[_Row], new: list[_Row]
) -> Iterator[tuple[Change, _Row | None, _Row | None]]:
    """Changes of a key, each with the row before and after.

    If only the order of rows differs, all are changed.
    """
    before, after = old, new
    old, new = list(old), list(new)
    for row in after:
        same = next((it for it in old if _without_partition(it) == _without_partition(row)), None)
        if same is not None:
            old.remove(same)
            new.remove(row)
    if not old and not new and [_without_partition(it) for it in before] != after:
        old, new = before, after
    if len(old) == len(new) == 1:
        yield Change.UPDATED, old[0], new[0]
        return
    yield from ((Change.DELETED, it, None) for it in old)
    yield from ((Change.INSERTED, None, it) for it in new)


def _without_partition(row: _Row) -> _Row:
    return {name: it for name, it in row.items() if name != "partition_id"}


def _change(shown: pa.Schema, change: Change, old: _Row | None, new: _Row | None) -> _Row:
    found = {"change": change.value, **(new or {}), **(old or {})}
    for side, row in (("before", old), ("after", new)):
        found |= {f"{side}_{name}": it for name, it in (row or {}).items()}
    return {name: it for name, it in found.items() if name in shown.names}
